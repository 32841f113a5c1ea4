#!/usr/bin/env python3
"""Prints the targets of the first complete state of the pods of a server. Usage: host.py URL"""
import sys

import k8s_sd

for diff in k8s_sd.discover(role="pod", api_server=sys.argv[1]):
    for group in diff.changes:
        print(*[target["__address__"] for target in group.targets])
    break
print("k8s_sd", k8s_sd.__version__)
