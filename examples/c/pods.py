"""Prints the pods of a cluster and every change.  Usage: pods.py [URL]"""

import sys

import k8s_sd

config = {"role": "pod"}
if len(sys.argv) > 1:
    config["api_server"] = sys.argv[1]
with k8s_sd.discover(config) as stream:
    for diff in stream:
        for group in diff.changes:
            addresses = [target["__address__"] for target in group.targets]
            print(group.source, *addresses or ["removed"], flush=True)
