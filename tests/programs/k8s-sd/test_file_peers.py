"""Prometheus and vmagent have the same targets from files of k8s-sd as from their own discovery.

The programs and the namespace are those of test_peers.py.
"""

import contextlib
import os
import tempfile
import time
import unittest

import test_peers as peers
from harness import TIMEOUT, running
from test_push import OTHER, configure, following
from test_serving import STATIC, serving_file

HEAD = "global: {scrape_interval: 1d}\nscrape_configs:\n"


def from_files(folder, name, jobs, suffix=""):
    return "".join(f"- job_name: {job}{suffix}\n  file_sd_configs:\n"
                   f"  - files: ['{folder}/{name.format(job)}']\n" for job in jobs)


class FilePeers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def require(self, name, version):
        path = peers.program(name)
        if not path or not peers.is_version(path, version):
            self.skipTest(f"there is no {name} {version}, neither installed nor in $K8S_SD_PEERS")

    def same(self, name, version, dialect):
        """With rules applied by k8s-sd."""
        self.require(name, version)
        with peers.still_cluster() as api_server:
            jobs = HEAD + peers.native(api_server, peers.RULES)
            path = os.path.join(self.folder, "k8s-sd.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(jobs)
            with running("k8s-sd", "--listen", "127.0.0.1:0", "--config", path, "--dialect",
                         dialect, "--write-dir", self.folder), \
                    peers.peer(name, jobs + from_files(self.folder, "{}.json", peers.ROLES,
                                                       "-listed")) as url:
                expected = dict.fromkeys(peers.ROLES, 1)
                found = peers.Peers.settled(self, url, peers.active_targets, expected)
        peers.Peers.compare(self, found)

    def test_prometheus_has_the_same_targets(self):
        self.same("prometheus", "3.5.3", "prometheus")

    def test_vmagent_has_the_same_targets(self):
        self.same("vmagent", "1.145", "victoriametrics")

    def followed(self, name, version):
        """A change at the server reaches an agent with a sidecar; the end of the server does not.
        """
        self.require(name, version)
        config = HEAD + from_files(self.folder, "*.json", ["any"])
        with serving_file(STATIC) as (server, path), \
                following(self.folder, f"http://127.0.0.1:{server.port}/sd/one/targets"), \
                peers.peer(name, config) as url:
            self.wait_for(url, {"10.0.0.1:80", "10.0.0.2:80"})
            configure(server, path, OTHER)
            self.wait_for(url, {"10.0.0.1:80", "10.0.0.3:80"})
            server.program.process.kill()
            time.sleep(2)  # longer than vmagent waits before it reads files again
            self.wait_for(url, {"10.0.0.1:80", "10.0.0.3:80"})

    def wait_for(self, url, addresses):
        end = time.monotonic() + TIMEOUT
        found = None
        while found != addresses:
            self.assertLess(time.monotonic(), end, found)
            with contextlib.suppress(OSError):
                targets = peers.active_targets(url).values()
                found = {dict(labels)["instance"] for job in targets for labels in job}
            time.sleep(0.1)

    def test_prometheus_follows(self):
        self.followed("prometheus", "3.5.3")

    def test_vmagent_follows(self):
        self.followed("vmagent", "1.145")


if __name__ == "__main__":
    peers.enter_namespace()
    unittest.main()
