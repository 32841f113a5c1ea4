"""The programs with the same task: Prometheus and vmagent.

Their rules drop every target, and their interval is a day: they never scrape.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from processes import Process

CONFIG = """
global: {{scrape_interval: 1d}}
scrape_configs:
{jobs}
"""
JOB = """
- job_name: job-{job}
  kubernetes_sd_configs:
  - role: {role}
    api_server: {url}
{tls}{selectors}
  relabel_configs:
  - action: drop
    source_labels: [__address__]
    regex: '.*'
"""


def job_text(server, job, role, selector):
    tls = f"    tls_config: {{ca_file: {server.ca}}}\n" if server.ca else ""
    selectors = f"    selectors: [{{role: pod, label: '{selector}'}}]\n" if selector else ""
    return JOB.format(job=job, role=role, url=server.url, tls=tls, selectors=selectors)


class Peer(Process):
    quiet = 8.0  # an idle time of this many seconds counts as done

    def __init__(self, program, server, folder, role="pod", jobs=1, different=False, text=None):
        """text: the configuration; None: jobs over the pods of the server."""
        of_jobs = "".join(job_text(server, job, role,
                                   f"app=app-{job % 20:04d},bench!={job}" if different else "")
                          for job in range(jobs if text is None else 0))
        file = Path(folder) / "config.yaml"
        file.write_text(CONFIG.format(jobs=of_jobs) if text is None else text)
        super().__init__([program, *self.arguments(file, folder)], cwd=folder,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Prometheus(Peer):
    name = "Prometheus"

    @staticmethod
    def arguments(file, folder):
        return [f"--config.file={file}", f"--storage.tsdb.path={folder}/data",
                "--web.listen-address=127.0.0.1:0"]


class Vmagent(Peer):
    name = "vmagent (lean)"

    @staticmethod
    def arguments(file, folder):
        return [f"-promscrape.config={file}", f"-remoteWrite.tmpDataPath={folder}/data",
                "-remoteWrite.url=http://127.0.0.1:9/", "-httpListenAddr=127.0.0.1:0",
                "-promscrape.dropOriginalLabels", "-promscrape.kubernetesSDCheckInterval=1s"]


def version_of(program, flag):
    """The version in the program's first output; distribution packages may print none."""
    out = subprocess.run([program, flag], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+\S*", (out.stdout + out.stderr).strip().partition("\n")[0])
    return found[0] if found else ""


def installed(program):
    """The files of a program in $K8S_SD_PEERS and on the path."""
    path = os.pathsep.join(filter(None, [os.environ.get("K8S_SD_PEERS"), os.environ["PATH"]]))
    files = (shutil.which(program, path=folder) for folder in path.split(os.pathsep))
    return list(dict.fromkeys(os.path.realpath(file) for file in files if file))


def discovers_kubernetes(prometheus):
    """Whether it is built with kubernetes_sd: it refuses its configuration, or reads it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.yaml"
        file.write_text("scrape_configs: [{job_name: a, kubernetes_sd_configs: [{role: pod, "
                        "api_server: 'http://127.0.0.1:9'}]}]\n")
        with Process([prometheus, *Prometheus.arguments(file, folder)], stdin=subprocess.DEVNULL,
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            return any("Completed loading of configuration file" in line
                       for line in process.process.stdout)


def find():
    """(class, program, version) of each peer in $K8S_SD_PEERS or on the path, and why a program
    there is none, in words."""
    found, unusable = [], []
    for file in installed("vmagent")[:1]:
        found.append((Vmagent, file, version_of(file, "-version")))
    for file in installed("prometheus"):
        version = version_of(file, "--version")
        if discovers_kubernetes(file):
            found.append((Prometheus, file, version))
            break
        unusable.append(f"{file} {version} is built without kubernetes_sd, as Debian's 2.42 is; "
                        "name the folder of another one, such as 3.5, in $K8S_SD_PEERS")
    return found, unusable
