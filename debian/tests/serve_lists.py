#!/usr/bin/env python3
"""k8s-sd serves the targets of its simulated cluster over HTTP."""
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

PROGRAM = ["k8s-sd", "--sim", "--listen", "127.0.0.1:0"]
TRIES = 240  # half a second apart


def targets(url):
    for _ in range(TRIES):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:  # the list is not complete yet
            time.sleep(0.5)
    sys.exit(f"{url} has no list")


with subprocess.Popen(PROGRAM, text=True, stdout=subprocess.PIPE) as program:
    try:
        base = re.search(r"http://[\w.:]+", program.stdout.readline())[0]
        count = len(targets(f"{base}/sd/pods/targets"))
    finally:
        program.terminate()
if program.returncode != 0 or count == 0:
    sys.exit(f"status {program.returncode}, {count} targets")
print(f"k8s-sd serves {count} targets")
