#!/usr/bin/env python3
"""The part of the program `discover` that the black-box tests use, as a host of the Python package.
K8S_SD_PACKAGE is its folder."""

import argparse
import json
import logging
import os
import signal
import sys

sys.path.insert(0, os.environ["K8S_SD_PACKAGE"])
import k8s_sd  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output")
    parser.add_argument("--role")
    parser.add_argument("--api-server")
    parser.add_argument("--token-file")
    parser.add_argument("--ca-file")
    parser.add_argument("--tls-server-name")
    options, unknown = parser.parse_known_args()
    if unknown:
        sys.exit(77)  # skips the scenario
    keys = {"role": options.role, "api_server": options.api_server,
            "bearer_token_file": options.token_file}
    if options.ca_file:
        keys["tls_config"] = {"ca_file": options.ca_file, "server_name": options.tls_server_name}
    logging.basicConfig(format="k8s_sd: %(levelname)s: %(message)s")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print('{"step": ""}', flush=True)  # the start of Python took its time
    with k8s_sd.discover(**keys) as stream:
        for diff in stream:
            updated = [{"source": group.source, "labels": group.labels, "targets": group.targets}
                       for group in diff.changes if group.op != "removed"]
            removed = [group.source for group in diff.changes if group.op == "removed"]
            print(json.dumps({"full": diff.full, "updated": updated, "removed": removed}),
                  flush=True)


if __name__ == "__main__":
    main()
