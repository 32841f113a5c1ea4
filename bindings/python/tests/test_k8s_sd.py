"""The Python package against a simulated server. K8S_SD_LIBRARY and K8S_SD_TEST_SERVER are paths;
K8S_SD_PACKAGE is the folder of the package."""

import asyncio
import contextlib
import datetime
import inspect
import logging
import math
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import unittest
import unittest.mock
import zipfile

sys.path.insert(0, os.environ["K8S_SD_PACKAGE"])
import k8s_sd  # noqa: E402
from k8s_sd import _helper  # noqa: E402
from server import Server  # noqa: E402

SCRAPE = """
scrape_configs:
- job_name: web
  kubernetes_sd_configs: [{role: pod, api_server: '%s'}]
  relabel_configs: [{target_label: version, replacement: '%s'}]
"""
REFUSED = "http://127.0.0.1:1"
#: A program whose only context is garbage in a cycle, which a later collection finds.
GARBAGE = """
import gc, logging, sys, threading
import k8s_sd
gc.disable()
logger = logging.getLogger("k8s_sd")
logger.propagate = False
def make_garbage():
    class Owner: pass
    owner = Owner()
    owner.itself = owner
    owner.context = k8s_sd.Context()
    owner.context.discover(role="pod", api_server="http://127.0.0.1:1")
    return owner.context._fd
"""
COLLECT_IN_HANDLER = """
collected = threading.Event()
handler = logging.Handler()
handler.emit = lambda record: (gc.collect(), collected.set())
logger.addHandler(handler)
make_garbage()
print("survived" if collected.wait(60) else "no log line")
"""
#: That of the library runs helper.log().
COLLECT_IN_THREAD_OF_LIBRARY = """
collected = threading.Event()
log = k8s_sd._helper.helper.log
k8s_sd._helper.helper.log = lambda *line: (gc.collect(), log(*line), collected.set())
logger.addHandler(logging.NullHandler())
make_garbage()
print("survived" if collected.wait(60) else "no log line")
"""
COLLECT_WITH_LOCK = """
import select
handler = logging.Handler()
handler.emit = lambda record: None
logger.addHandler(handler)
with handler.lock:
    select.select([make_garbage()], [], [], 60)  # its status, after the first line
    gc.collect()
print("survived")
"""

#: The first handler of the end is the last one that runs.
AFTER_THE_END = """
import atexit, logging
def use():
    try:
        context.metrics()
    except k8s_sd.Closed:
        print("closed")
    context.close()
atexit.register(use)
logging.getLogger("k8s_sd").addHandler(logging.NullHandler())
# earlier
import k8s_sd
context = k8s_sd.Context()
context.discover(role="pod", api_server="http://127.0.0.1:1")
"""
EARLIER_FINALIZER = """
import weakref
class Owner: pass
owner = Owner()
weakref.finalize(owner, len, "")
"""


def run_program(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.environ["K8S_SD_PACKAGE"]}, timeout=60)


@contextlib.contextmanager
def handled(handle):
    """A handler of the log lines: handle(record), with the lock of the handler."""
    logger, handler = logging.getLogger("k8s_sd"), logging.Handler()
    handler.emit = handle
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.propagate = True


def next_diff(context):
    while isinstance(event := context.next(), k8s_sd.Status):
        pass
    return event


def addresses(diff):
    return {group.source: [target["__address__"] for target in group.targets]
            for group in diff.changes}


class Discovery(unittest.TestCase):
    def test_first_the_complete_state_then_true_changes(self):
        with Server() as server:
            server.pod("web-0", "10.0.0.1")
            with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                diffs = iter(stream)
                diff = next(diffs)
                self.assertTrue(diff.full)
                self.assertEqual(addresses(diff), {"pod/shop/web-0": ["10.0.0.1:80"]})
                self.assertEqual(diff.changes[0].merged()[0]["__meta_kubernetes_namespace"], "shop")
                server.pod("web-0", "10.0.0.2")
                diff = next(diffs)
                self.assertFalse(diff.full)
                self.assertEqual(diff.changes[0].op, "changed")
                server.tell("remove pods shop web-0")
                self.assertEqual(next(diffs).changes,
                                 [k8s_sd.Group("removed", "pod/shop/web-0", {}, [])])
                self.assertTrue(stream.status.synced)
                self.assertIsNone(stream.next(timeout=0))

    def test_a_configuration_is_any_mapping(self):
        with Server() as server:
            nested = types.MappingProxyType({"names": ["shop"]})
            config = types.MappingProxyType(
                {"role": "pod", "api_server": server.url, "namespaces": nested})
            with k8s_sd.discover(config) as stream:
                self.assertEqual(stream.next().changes, [])

    def test_asyncio(self):
        async def follow(server):
            seen = []
            with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                async for diff in stream:
                    seen.append(addresses(diff))
                    if len(seen) == 2:
                        return seen
                    server.pod("web-0", "10.0.0.2")

        with Server() as server:
            server.pod("web-0", "10.0.0.1")
            self.assertEqual(asyncio.run(follow(server)), [{"pod/shop/web-0": ["10.0.0.1:80"]},
                                                           {"pod/shop/web-0": ["10.0.0.2:80"]}])

    def test_other_tasks_have_their_turn_however_many_events_there_are(self):
        async def count_turns():
            turns = 0

            async def other():
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            task = asyncio.create_task(other())
            taken = 0
            async for _ in context:
                taken += 1
                if taken == 10:
                    break
            task.cancel()
            return turns

        with k8s_sd.Context() as context, \
                unittest.mock.patch.object(context, "_take", lambda: object()):
            self.assertGreaterEqual(asyncio.run(count_turns()), 9)

    def test_a_cancelled_task_leaves_the_stream_usable(self):
        async def cancel_and_go_on(server):
            with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                first = [diff async for diff in one_of(stream)]
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(one_of(stream)), 0.01)
                server.pod("web-0", "10.0.0.1")
                return first + [diff async for diff in one_of(stream)]

        async def one_of(stream):
            async for diff in stream:
                yield diff
                return

        with Server() as server:
            diffs = asyncio.run(cancel_and_go_on(server))
            self.assertEqual([diff.full for diff in diffs], [True, False])

    def test_another_task_closes_the_stream(self):
        async def close_soon(stream):
            await asyncio.sleep(0)
            stream.close()

        async def read_all(server):
            with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                task = None
                async for _ in stream:
                    task = task or asyncio.create_task(close_soon(stream))
                await task

        with Server() as server:
            asyncio.run(asyncio.wait_for(read_all(server), 60))

    def test_another_thread_closes_the_context_at_any_moment(self):
        async def read_all(context):
            async for _ in context:
                pass

        context = k8s_sd.Context()

        def take_and_close():
            context.close()

        with unittest.mock.patch.object(context, "_take", take_and_close):
            asyncio.run(asyncio.wait_for(read_all(context), 60))

    def test_scrape_and_reload(self):
        with Server() as server, k8s_sd.Context() as context:
            server.pod("web-0", "10.0.0.1")
            watch = context.scrape(SCRAPE % (server.url, "1"))
            diff = next_diff(context)
            self.assertEqual((diff.job, diff.full), ("web", True))
            self.assertEqual(diff.changes[0].url, "http://10.0.0.1:80/metrics")
            self.assertEqual(diff.changes[0].scrape_interval, 60)
            context.reload(watch, SCRAPE % (server.url, "2"))
            diff = next_diff(context)
            self.assertEqual([change.op for change in diff.changes], ["removed", "added"])
            self.assertEqual(diff.changes[1].labels["version"], "2")

    def test_a_large_diff_comes_in_parts(self):
        with Server() as server:
            for i in range(1, 26):
                server.pod(f"web-{i}", f"10.0.0.{i}")
            for stream in (k8s_sd.discover(role="pod", api_server=server.url, max_changes=10),
                           k8s_sd.scrape(SCRAPE % (server.url, "1"), max_changes=10)):
                with stream:
                    parts = [stream.next() for _ in range(3)]
                    self.assertEqual([len(part.changes) for part in parts], [10, 10, 5])
                    self.assertEqual([part.full for part in parts], [True, False, False])
                    self.assertEqual([part.more for part in parts], [True, True, False])
            with self.assertRaisesRegex(k8s_sd.ConfigError, "max_changes: must be a whole"):
                k8s_sd.discover(role="pod", api_server=server.url, max_changes=0)

    def test_objects(self):
        with Server() as server:
            server.pod("web-0", "10.0.0.1")
            with k8s_sd.watch("Pod", server={"api_server": server.url},
                              fields=["metadata.labels", "status.podIP"]) as stream:
                pod, = stream.next().changes
                self.assertEqual((pod.op, pod.key), ("added", "shop/web-0"))
                self.assertEqual(pod.object["metadata"]["labels"], {"app": "web"})
                self.assertEqual(pod.object["status"], {"podIP": "10.0.0.1"})

    def test_secrets(self):
        with Server() as server:
            with k8s_sd.follow("Secret", "shop", "db",
                               server=f"api_server: {server.url}") as stream:
                self.assertEqual(stream.next().op, "removed")
                server.apply(apiVersion="v1", kind="Secret", type="Opaque",
                             metadata={"namespace": "shop", "name": "db"},
                             data={"password": "c2VjcmV0"})
                secret = stream.next()
                self.assertEqual(secret.data, {"password": b"secret"})
                self.assertNotIn("secret", repr(secret))


class Faults(unittest.TestCase):
    """Each is followed by a change that must arrive, without TLS and with it."""

    def check(self, *commands):
        for tls in (False, True):
            with self.subTest(tls=tls):
                self.check_one(*commands, tls=tls)

    def check_one(self, *commands, tls):
        with Server(tls) as server, k8s_sd.discover(role="pod", **server.keys) as stream:
            server.pod("web-0", "10.0.0.1")
            while not addresses(stream.next()):
                pass
            for command in commands:
                server.tell(command)
            server.pod("web-0", "10.0.0.2")
            server.tell("accept yes")
            while addresses(stream.next()) != {"pod/shop/web-0": ["10.0.0.2:80"]}:
                pass

    def test_410(self):
        self.check("accept no", "drop", "compact")

    def test_cut(self):
        self.check("drop")
        self.check("garbage pods")

    def test_expired_token(self):
        with Server(tls=True) as server, tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "token")
            file.write_text("first", encoding="utf-8")
            server.tell("token first")
            with k8s_sd.discover(role="pod", **server.keys,
                                 authorization={"credentials_file": str(file)}) as stream:
                self.assertTrue(stream.next().full)
                server.tell("token second")
                server.tell("drop")
                server.pod("web-0", "10.0.0.1")
                while "401" not in stream.status.message:
                    stream.next(timeout=0.05)
                file.write_text("second", encoding="utf-8")
                self.assertEqual(addresses(stream.next()), {"pod/shop/web-0": ["10.0.0.1:80"]})

    def test_an_unknown_authority(self):
        with Server(tls=True) as server, k8s_sd.discover(role="pod",
                                                         api_server=server.url) as stream:
            while "certificate" not in stream.status.message:
                self.assertIsNone(stream.next(timeout=0.05))


class Interface(unittest.TestCase):
    def test_mistakes_name_the_key(self):
        with self.assertRaisesRegex(k8s_sd.ConfigError, "role"):
            k8s_sd.discover(role="pods")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "config"):
            k8s_sd.discover()
        with self.assertRaisesRegex(k8s_sd.ConfigError, "dialect"):
            k8s_sd.discover(role="pod", dialect="other")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "fields: must be a list"):
            k8s_sd.watch("Pod", fields="metadata.labels")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "kind: must not contain a zero"):
            k8s_sd.watch("Pod\0s")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "namespace: must be a text, not NoneType"):
            k8s_sd.follow("Secret", None, "db")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "must be a text or a mapping, not bytes"):
            k8s_sd.discover(b"role: pod")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "config: has a value of the type date"):
            k8s_sd.discover({"role": datetime.date(2026, 1, 1)})
        for interval in (-1, 5e6, "1"):
            with self.assertRaisesRegex(k8s_sd.ConfigError, "from 0 to below 4000000"):
                k8s_sd.discover(role="pod", min_interval=interval)
        for changes in (0, 2**33, 1.5):
            with self.assertRaisesRegex(k8s_sd.ConfigError, "from 1 to 4294967295, or None"):
                k8s_sd.discover(role="pod", max_changes=changes)

    def test_a_number_outside_64_bits_is_an_unknown_watch(self):
        with k8s_sd.Context() as context:
            watch = context.discover(role="pod", api_server=REFUSED)
            for number in (watch + 2**64, -1, -2**64):
                with self.assertRaises(k8s_sd.NotFound):
                    context.cancel(number)
            context.cancel(watch)

    def test_an_unknown_watch_is_an_error_of_the_package_and_a_key_error(self):
        with k8s_sd.Context() as context:
            for error in (k8s_sd.Error, KeyError):
                with self.assertRaises(error) as raised:
                    context.cancel(7)
                self.assertEqual(str(raised.exception), "id: the context has no watch 7")
            for call in (context.cancel, lambda watch: context.reload(watch, {"role": "pod"})):
                with self.assertRaisesRegex(k8s_sd.ConfigError, "watch: .* not str"):
                    call("x")

    def test_text_that_is_no_unicode_is_a_mistake_and_stays_secret(self):
        for config in ({"role": "pod", "basic_auth": {"password": "hidden\udc80"}},
                       "password: hidden\udc80"):
            with self.assertRaisesRegex(k8s_sd.ConfigError, "config: .* lone surrogate") as raised:
                k8s_sd.discover(config)
            self.assertNotIn("hidden", "".join(traceback.format_exception(raised.exception)))

    def test_a_timeout_may_be_of_any_length(self):
        with Server() as server:
            for timeout in (3e6, math.inf):
                with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                    self.assertTrue(stream.next(timeout=timeout).full)

    def test_functions_have_the_arguments_of_the_methods(self):
        for name in ("discover", "scrape", "watch", "follow"):
            with self.subTest(name):
                of_method = dict(inspect.signature(getattr(k8s_sd.Context, name)).parameters)
                of_function = dict(inspect.signature(getattr(k8s_sd, name)).parameters)
                self.assertIs(of_function.pop("find_server").default, True)
                del of_method["self"]
                self.assertEqual(of_function, of_method)

    def test_functions_pass_each_argument_on(self):
        for name in ("discover", "scrape", "watch", "follow"):
            function, method = getattr(k8s_sd, name), getattr(k8s_sd.Context, name)
            kinds = {key: parameter.kind
                     for key, parameter in inspect.signature(function).parameters.items()}
            given = {key: f"the {key}" for key, kind in kinds.items()
                     if kind != inspect.Parameter.VAR_KEYWORD and key != "find_server"}
            if inspect.Parameter.VAR_KEYWORD in kinds.values():
                given["role"] = "pod"
            with self.subTest(name), unittest.mock.patch.object(
                    k8s_sd.Context, name, autospec=True, return_value=1) as called:
                with function(**given) as stream:
                    self.assertEqual(stream.watch, 1)
                (_, *values), keywords = called.call_args
                bound = inspect.signature(method).bind(None, *values, **keywords).arguments
                del bound["self"]
                keys = bound.pop("keys", {})
                self.assertEqual({**bound, **keys}, given)

    def test_status_events_do_not_extend_a_timeout(self):
        def next_status(timeout):
            return k8s_sd.Status(1, False, "refused") if timeout > 0 else None

        with k8s_sd.discover(role="pod", api_server="http://127.0.0.1:1") as stream:
            stream.context.next = next_status
            self.assertIsNone(stream.next(timeout=0.01))

    def test_nothing_works_after_close(self):
        context = k8s_sd.Context()
        context.close()
        context.close()
        with self.assertRaises(k8s_sd.Closed):
            context.discover(role="pod", api_server="http://127.0.0.1:1")
        self.assertEqual(list(context), [])

    def test_a_child_process_is_refused(self):
        with Server() as server, k8s_sd.discover(role="pod", api_server=server.url) as stream:
            self.assertTrue(stream.next().full)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    stream.next(timeout=30)
                except k8s_sd.Closed:
                    status = 0
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_log_lines_go_to_the_logger(self):
        lines = queue.SimpleQueue()
        with Server() as server, handled(lines.put):
            server.tell("deny pods")
            with k8s_sd.discover(role="pod", api_server=server.url):
                self.assertEqual(lines.get(timeout=60).levelno, logging.WARNING)

    def test_a_handler_may_close_the_context(self):
        closed = queue.SimpleQueue()

        def close(_record):
            context.close()
            closed.put(True)

        with handled(close), k8s_sd.Context() as context:
            context.discover(role="pod", api_server=REFUSED)
            self.assertTrue(closed.get(timeout=60))

    def test_close_waits_for_no_lock_of_the_program(self):
        lines = queue.SimpleQueue()
        with handled(lines.put) as handler, k8s_sd.Context() as context:
            with handler.lock:
                context.discover(role="pod", api_server=REFUSED)
                while "refused" not in str(context.next()):
                    pass
                context.close()
            self.assertIn("refused", lines.get(timeout=60).getMessage())

    def test_a_slow_handler_loses_lines_and_costs_no_memory(self):
        lines, finished = queue.SimpleQueue(), threading.Event()

        def handle(record):
            lines.put(record.getMessage())
            finished.wait(60)

        logger = logging.getLogger("k8s_sd.a_slow_handler")
        helper = _helper.Helper()  # without the work of other tests
        with handled(handle), unittest.mock.patch.object(_helper, "MAX_WAITING_LINES", 2):
            helper.start()
            helper.log(logger, logging.WARNING, "0")
            taken = [lines.get(timeout=60)]
            for number in range(1, 9):
                helper.log(logger, logging.WARNING, str(number))
            finished.set()
            taken += [lines.get(timeout=60), lines.get(timeout=60)]
            self.assertEqual(taken, ["0", "1", "2"])
            helper.log(logger, logging.WARNING, "9")
            self.assertEqual(lines.get(timeout=60), "9")

    def test_lines_of_contexts_that_the_end_closes_are_logged(self):
        lines = queue.SimpleQueue()
        helper = _helper.Helper()
        helper.start()

        class Owner:
            def close(self):
                helper.log(logging.getLogger("k8s_sd.the_end"), logging.WARNING, "ends")

        owner = Owner()
        with handled(lambda record: lines.put(record.getMessage())):
            helper.free_after(owner, 0, None)
            helper._end()
        self.assertEqual(lines.get_nowait(), "ends")

    def test_the_end_of_the_interpreter_closes_contexts_and_leaves_them_valid(self):
        # Python's own handler of the end runs before or after that of the package.
        for name, earlier in (("before", ""), ("after", EARLIER_FINALIZER)):
            with self.subTest(name):
                result = run_program(AFTER_THE_END.replace("# earlier", earlier))
                self.assertEqual((result.stdout, result.stderr, result.returncode),
                                 ("closed\n", "", 0))

    def test_garbage_is_collected_in_any_thread(self):
        for name, code in (("of handlers", COLLECT_IN_HANDLER),
                           ("of the library", COLLECT_IN_THREAD_OF_LIBRARY),
                           ("with the lock of a handler", COLLECT_WITH_LOCK)):
            with self.subTest(name):
                result = run_program(GARBAGE + code)
                self.assertEqual((result.stdout, result.stderr, result.returncode),
                                 ("survived\n", "", 0))

    def test_the_status_of_a_job(self):
        with Server() as server:
            server.tell("deny pods")
            with k8s_sd.scrape(SCRAPE % (server.url, "1")) as stream:
                while "403" not in stream.status.message:
                    stream.next(timeout=0.05)
            self.assertEqual((stream.status.job, stream.status.synced), ("web", False))

    def test_status_and_metrics(self):
        with Server() as server, k8s_sd.Context() as context:
            watch = context.discover(role="pod", api_server=server.url)
            while not isinstance(context.next(), k8s_sd.GroupDiff):
                pass
            status, = context.status()["watches"]
            self.assertEqual((status["watch"], status["synced"]), (watch, True))
            metrics = context.metrics()
            self.assertIn('k8s_sd_lists_total{resource="pods"} 1', metrics)
            self.assertRegex(metrics, r'k8s_sd_watch_synced\{.*watch="1".*\} 1')

    def test_a_program_may_end_without_closing(self):
        with Server() as server:
            result = run_program("import k8s_sd, sys; stream = k8s_sd.discover(role='pod', "
                                 "api_server=sys.argv[1]); print(stream.next().full)", server.url)
            self.assertEqual((result.stdout, result.stderr, result.returncode), ("True\n", "", 0))


class Packaging(unittest.TestCase):
    def test_the_backend_builds_a_wheel(self):
        folder = pathlib.Path(__file__).parent.parent
        sys.path.insert(0, str(folder))
        import wheel_backend
        with tempfile.TemporaryDirectory() as target:
            name = wheel_backend.build_wheel(target)
            self.assertEqual(name, f"k8s_sd-{k8s_sd.__version__}-py3-none-any.whl")
            with zipfile.ZipFile(pathlib.Path(target, name)) as wheel:
                self.assertIn("k8s_sd/py.typed", wheel.namelist())
                self.assertIsNone(wheel.testzip())

    def test_pip_makes_a_wheel_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True,
                          check=False).returncode:
            self.skipTest("there is no pip")
        folder = pathlib.Path(__file__).parent.parent
        with tempfile.TemporaryDirectory() as target:
            subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel",
                            "--quiet", "--no-index", "--wheel-dir", target, folder], check=True,
                           stdout=subprocess.DEVNULL)
            self.assertEqual([name for name in os.listdir(target) if name.endswith(".whl")],
                             [f"k8s_sd-{k8s_sd.__version__}-py3-none-any.whl"])


if __name__ == "__main__":
    unittest.main()
