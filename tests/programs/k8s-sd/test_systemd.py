"""Whether k8s-sd speaks the protocol of a service manager, and examples/systemd fits it."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

import harness
from harness import TIMEOUT, file_with, run
from manifests import options_in

FOLDER = pathlib.Path(__file__).parents[3] / "examples/systemd"
# Of both units.
FENCE = """DynamicUser=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
LockPersonality=yes
MemoryDenyWriteExecute=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM"""
# Of the unit of k8s-sd.
SERVICE = """Type=notify
NotifyAccess=main
Restart=always
RestartPreventExitStatus=2
WatchdogSec=30
TimeoutStartSec=60
TimeoutStopSec=30
LimitNOFILE=65536
StateDirectory=k8s-sd
StateDirectoryMode=0700
UMask=0077"""
JOBS = "scrape_configs: [{job_name: pods, kubernetes_sd_configs: [{role: pod}]}]\n"


class Notified:
    """k8s-sd with a service manager at this address: "@" and a name, or a path."""

    def __init__(self, address, *arguments, **variables):
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.settimeout(TIMEOUT)
        self.manager.bind("\0" + address[1:] if address.startswith("@") else address)
        command = harness.command("k8s-sd", ("--sim", "--listen", "127.0.0.1:0", *arguments))
        environment = {**harness.environment(), "NOTIFY_SOCKET": address, **variables}
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.manager.close()

    def message(self):
        """The next message, as its lines."""
        return self.manager.recv(10_000).decode().split("\n")

    def message_with(self, line):
        while True:
            lines = self.message()
            if line in lines:
                return lines


class Protocol(unittest.TestCase):
    def test_ready_and_stopping_to_an_abstract_socket(self):
        with Notified(f"@k8s-sd-test-{os.getpid()}") as service:
            ready, status = service.message()
            self.assertEqual(ready, "READY=1")
            self.assertRegex(status, r"^STATUS=serves 3 jobs at http://127\.0\.0\.1:\d+$")
            service.process.send_signal(signal.SIGTERM)
            self.assertEqual(service.message(), ["STOPPING=1"])
            self.assertEqual(service.process.wait(TIMEOUT), 0)

    def test_a_reload_begins_and_ends(self):
        with tempfile.TemporaryDirectory() as folder, file_with(JOBS) as config, \
                Notified(os.path.join(folder, "notify"), "--config", config) as service:
            self.assertEqual(service.message()[0], "READY=1")
            pathlib.Path(config).write_text("scrape_configs: {", encoding="utf-8")
            for _ in range(2):
                service.process.send_signal(signal.SIGHUP)
                reloading, time = service.message()
                self.assertEqual(reloading, "RELOADING=1")
                self.assertRegex(time, r"^MONOTONIC_USEC=\d+$")
                ready, status = service.message()
                self.assertEqual(ready, "READY=1")
                self.assertRegex(status, "the last change of the configuration is refused$")

    def test_a_reload_without_a_file_ends(self):
        with Notified(f"@k8s-sd-test-file-{os.getpid()}") as service:
            self.assertEqual(service.message()[0], "READY=1")
            service.process.send_signal(signal.SIGHUP)
            self.assertEqual(service.message()[0], "RELOADING=1")
            self.assertEqual(service.message()[0], "READY=1")

    def test_the_watchdog_is_fed_if_it_is_meant_for_this_process(self):
        address = f"@k8s-sd-test-dog-{os.getpid()}"
        with Notified(address, WATCHDOG_USEC="20000") as service:
            for _ in range(5):
                service.message_with("WATCHDOG=1")
        with Notified(address, WATCHDOG_USEC="20000", WATCHDOG_PID="1") as service:
            self.assertEqual(service.message()[0], "READY=1")
            service.process.send_signal(signal.SIGTERM)
            self.assertEqual(service.message(), ["STOPPING=1"])


def unit(name):
    """The settings of a unit: a list of values for each key."""
    settings = {}
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if re.match(r"\w+=", line):
            key, _, value = line.partition("=")
            settings.setdefault(key, []).append(value)
    return settings


class Units(unittest.TestCase):
    def assert_options_exist(self, command, known):
        for option in re.findall(r" (--[a-z-]+)", command):
            self.assertIn(option, known)

    def test_commands_have_options_of_the_programs(self):
        known = options_in(run("k8s-sd", "--help").stdout)
        service = unit("k8s-sd.service")
        self.assert_options_exist(service["ExecStart"][0], known)
        self.assert_options_exist(service["ExecReload"][0], known)
        self.assert_options_exist(unit("k8s-sd-follow@.service")["ExecStart"][0],
                                  options_in(run("k8s-sd", "follow", "--help").stdout))

    def test_each_instance_that_follows_has_a_directory_of_its_own(self):
        found = unit("k8s-sd-follow@.service")
        folder, = found["StateDirectory"]
        self.assertTrue(folder.endswith("/%i"))
        self.assertIn(f" --write-dir %S/{folder} ", found["ExecStart"][0])

    def test_both_units_have_this_fence(self):
        for name in ("k8s-sd.service", "k8s-sd-follow@.service"):
            found = unit(name)
            for line in FENCE.split("\n"):
                key, _, value = line.partition("=")
                with self.subTest(name=name, key=key):
                    self.assertIn(value, found.get(key, []))
            known = {line.partition("=")[0] for line in FENCE.split("\n")}
            further = {key for key in found if re.match(
                r"Protect|Private|Restrict(?!Prevent)|SystemCall|Capab|Ambient|MemoryDeny", key)}
            self.assertLessEqual(further, known)

    def test_the_service_manager_supervises_k8s_sd(self):
        found = unit("k8s-sd.service")
        for line in SERVICE.split("\n"):
            key, _, value = line.partition("=")
            with self.subTest(key=key):
                self.assertEqual(found.get(key), [value])


if __name__ == "__main__":
    unittest.main()
