"""The Python package against a simulated server. K8S_SD_LIBRARY and K8S_SD_TEST_SERVER are paths;
K8S_SD_PACKAGE is the folder of the package."""

import asyncio
import datetime
import inspect
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zipfile

sys.path.insert(0, os.environ["K8S_SD_PACKAGE"])
import k8s_sd  # noqa: E402
from server import Server  # noqa: E402

SCRAPE = """
scrape_configs:
- job_name: web
  kubernetes_sd_configs: [{role: pod, api_server: '%s'}]
  relabel_configs: [{target_label: version, replacement: '%s'}]
"""


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
            with self.assertRaisesRegex(k8s_sd.ConfigError, "max_changes: must be at least 1"):
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
        with self.assertRaisesRegex(k8s_sd.ConfigError, "config: must be a text, not bytes"):
            k8s_sd.discover(b"role: pod")
        with self.assertRaisesRegex(k8s_sd.ConfigError, "config: has a value of the type date"):
            k8s_sd.discover({"role": datetime.date(2026, 1, 1)})
        with k8s_sd.Context() as context, self.assertRaises(KeyError):
            context.cancel(7)

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
        with Server() as server, self.assertLogs("k8s_sd", logging.WARNING):
            server.tell("deny pods")
            with k8s_sd.discover(role="pod", api_server=server.url) as stream:
                while not stream.status.message:
                    stream.next(timeout=0.05)

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
            program = ("import k8s_sd, sys; stream = k8s_sd.discover(role='pod', "
                       "api_server=sys.argv[1]); print(stream.next().full)")
            result = subprocess.run(
                [sys.executable, "-c", program, server.url], capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": os.environ["K8S_SD_PACKAGE"]}, timeout=60)
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
