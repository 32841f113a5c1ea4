#!/usr/bin/env python3
"""Checks the direct and indirect includes of headers, as the compiler reports them.

1. Public headers bring no Beast, OpenSSL, libyaml, RE2 or protozero, and of detail/ only the files
   that they need: hosts compile them in every file.
2. What decides or computes does no I/O: it brings no Asio (see PURE).

usage: check_dependencies.py INCLUDE_DIRECTORY COMPILER [COMPILER_OPTION...]
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

DENIED_TO_HOSTS = re.compile(
    r"(boost/beast|boost/asio/ssl|openssl|zlib|yaml|nghttp2|re2|xxhash|protozero)(?=[/.])"
    # required by templates of hosts
    r"|k8s_sd/detail/(?!base/|text/|labels/|stores/|client/server_identity\.|hosts/object_watch\."
    r"|async/(host_arguments|operation|reader|run_initiation|sync_waits)\.)")
DENIED_TO_PURE = re.compile(r"(boost/asio|boost/beast|openssl|yaml)(?=[/.])")
# Pure layers, and the pure files of other layers.
PURE = re.compile(
    r"k8s_sd/detail/((labels|objects|codec|kinds)/"
    r"|base/(backoff|coalesced_changes|random|fnv1a)\."
    r"|fleet/(view_machine|lease_plan|lease_sights|fleet_view|group_share)\."
    r"|watch/(watch_machine|outcome|watch_request|watch_idle_timeout|encoding_choice"
    r"|failure|watch_report|resource_version|api_absence|known_versions|list_(forms|pacing|plan)"
    r"|probe_plan|retry_pacing|selection|share_choice|stream_record|unread_objects"
    r"|watch_(failures|progress))\."
    r"|sharing/(watch_plan|matching_views|view_set)\.|config/proxy_choice\.hpp"
    r"|cache/collection_policy\.|groups/(dependency_graph|full_diff)\."
    r"|scrape/target_(url|builder)\."
    r"|stores/(trie|published|store_index|store_traits)\."
    r"|discovery/(due_queue|pending_changes)\.)")
GATHERING = re.compile(r"k8s_sd/(scrape/)?src\.hpp")


def dependencies(command, include, header):
    """The paths of all files that the header includes, relative to an include directory."""
    make = subprocess.run(
        [*command, f"-I{include}", "-M", "-x", "c++", str(header)],
        check=True, capture_output=True, text=True).stdout
    paths = make.replace("\\\n", " ").split()[2:]
    return [re.sub(r".*/(?=(k8s_sd|boost|openssl|nghttp2|re2|protozero)/|(xxhash|yaml)\.h)", "", path)
            for path in paths]


def denied_to(header):
    if not header.startswith("k8s_sd/detail/"):
        return DENIED_TO_HOSTS
    return DENIED_TO_PURE if PURE.match(header) else None


def problems_of(header, paths):
    denied = denied_to(header)
    if denied is None:
        return []
    found = {match[0] for path in paths if (match := denied.match(path))}
    return [f"{header} must not bring {name}" for name in sorted(found)]


def main(include, *command):
    root = pathlib.Path(include)
    headers = [str(path.relative_to(root)) for path in sorted(root.glob("k8s_sd/**/*.[hi]pp"))]
    headers = [name for name in headers if denied_to(name) and not GATHERING.fullmatch(name)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = pool.map(lambda name: dependencies(command, include, root / name), headers)
        problems = [p for name, found in zip(headers, paths) for p in problems_of(name, found)]
    print(*problems, f"{len(headers)} headers checked, {len(problems)} problems", sep="\n")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
