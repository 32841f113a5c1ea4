"""A process of Prometheus, for tests in Python."""

import contextlib
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request


class Prometheus:
    """Reads prometheus.yml of the folder. Listens at a port that the kernel chooses."""

    def __init__(self, program, folder, seconds, environment=None):
        """seconds: how long wait_for() waits. environment: another one than that of the test"""
        self.folder = folder
        self.seconds = seconds
        self.known_port = None
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={folder}/prometheus.yml",
                 "--web.listen-address=127.0.0.1:0", f"--storage.tsdb.path={folder}/data"],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def port(self):
        """That of its listening socket, or None."""
        process = pathlib.Path(f"/proc/{self.process.pid}")
        with contextlib.suppress(OSError):  # files are closed, or the process ends, meanwhile
            sockets = {os.readlink(file) for file in (process / "fd").iterdir()}
            for line in (process / "net/tcp").read_text("ascii").splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == "0A" and f"socket:[{inode}]" in sockets:  # it listens
                    return int(local.partition(":")[2], 16)
        return None

    def ask(self, path, **parameters):
        """The answer of the API, or None before it is ready."""
        self.known_port = self.known_port or self.port()
        if not self.known_port:
            return None
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.known_port}/api/v1/{path}?{query}",
                                        timeout=self.seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 503:
                    raise AssertionError(error.read().decode()) from error
            return None
        except OSError:  # it may have ended: wait_for() shows its log
            return None

    def wait_for(self, path, is_wanted, **parameters):
        """The data of the first answer that is as wanted."""
        end = time.monotonic() + self.seconds
        while True:
            if self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text("utf-8"))
            answer = self.ask(path, **parameters)
            if answer and is_wanted(answer["data"]):
                return answer["data"]
            if time.monotonic() > end:
                raise AssertionError(answer or (self.folder / "log").read_text("utf-8"))
            time.sleep(0.2)

    def close(self):
        self.process.kill()
        self.process.wait()
