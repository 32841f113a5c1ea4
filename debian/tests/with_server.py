#!/usr/bin/env python3
"""Runs a host on a simulated API server with one pod, and checks that it prints the pod's address.

usage: with_server.py SERVER HOST...     the URL of the server is the last argument of the host
"""
import json
import subprocess
import sys

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
       "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 8080}]}]},
       "status": {"phase": "Running", "podIP": "10.0.0.1"}}

with subprocess.Popen([sys.argv[1]], text=True, stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE) as server:
    url = server.stdout.readline().strip()
    print("apply", json.dumps(POD), file=server.stdin, flush=True)
    answer = server.stdout.readline()
    host = subprocess.run([*sys.argv[2:], url], text=True, capture_output=True, check=False,
                          timeout=300)
    server.stdin.close()
print(host.stdout, host.stderr)
if not answer.startswith("ok") or host.returncode != 0 or "10.0.0.1:8080" not in host.stdout:
    sys.exit(f"server: {answer}, status of the host: {host.returncode}")
