"""Prints the pods of a cluster and every change.  Usage: pods.py [URL]"""

import sys

import k8s_sd

server = {"api_server": sys.argv[1]} if len(sys.argv) > 1 else {}
with k8s_sd.discover(role="pod", **server) as stream:
    for diff in stream:
        for group in diff.changes:
            addresses = [target["__address__"] for target in group.targets]
            print(group.source, *addresses or ["removed"], flush=True)
