#!/usr/bin/env python3
"""Checks the direct and indirect includes of headers, as the compiler reports them.

1. Public headers bring no Beast, OpenSSL, libyaml, RE2 or protozero, and of detail/ only the files
   that they need: hosts compile them in every file.
2. Code that decides or computes does no I/O: it brings no Asio (see PURE).

usage: check_dependencies.py INCLUDE_DIRECTORY COMPILER [COMPILER_OPTION...]
"""
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
# Layers and files of other layers that decide or compute.
PURE = """
    codec/ kinds/ labels/ objects/
    base/backoff base/coalesced_changes base/hash
    config/rules config/share_keys config/variables
    discovery/due_queue discovery/filter_index discovery/pending_changes
    fleet/fleet_place fleet/fleet_view fleet/group_share fleet/leases fleet/view_machine
    groups/dependency_graph groups/full_diff
    monitors/generation monitors/quota monitors/versions
    scrape/equal_targets scrape/target_builder scrape/target_url
    relabel/pattern relabel/go_regex relabel/label_name relabel/case_map
    sharing/matching_views sharing/watch_plan
    stores/published stores/store_index stores/trie
    text/did_you_mean text/json_text text/redaction text/rfc3339 text/utf8
    watch/exchange_times watch/failure watch/form_choices watch/list_forms watch/list_plan
    watch/outcome watch/pacing watch/probe_plan watch/resource_version watch/selection
    watch/stream_record watch/watch_failures watch/watch_idle_timeout watch/watch_machine
    watch/watch_report watch/watch_request
""".split()
DETAIL = "k8s_sd/detail/"
SHORT = re.compile(r".*/(?=(k8s_sd|boost|openssl|nghttp2|re2|protozero)/|(xxhash|yaml)\.h)")
PLACE = re.compile(r'# \d+ "([^"]+)"')
DIRECTIVE = re.compile(r'#\s*include(?:_next)? ["<]([^">]+)[">]')
GATHERING = re.compile(r"k8s_sd/(scrape/)?src\.hpp")


def short_name(path):
    """The path relative to an include directory."""
    return SHORT.sub("", path)


def includes(command, include, headers):
    """The names that each file includes, by the compiler's own reading of all headers as one file.

    Preprocessing each header alone takes twenty times as long. What a header includes only under a
    condition that another header changes may be missing.
    """
    unit = "".join(f'#include "{header}"\n' for header in headers)
    text = subprocess.run([*command, f"-I{include}", "-E", "-dI", "-x", "c++", "-"], input=unit,
                          check=True, capture_output=True, text=True).stdout
    result, current = {}, None
    for line in text.splitlines():
        if place := PLACE.match(line):
            current = result.setdefault(short_name(place[1]), set())
        elif directive := DIRECTIVE.match(line):
            current.add(directive[1])
    return result


def closure(header, direct):
    """All files that the header includes, directly or not."""
    reached, waiting = set(), [*direct[header]]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += direct.get(name, ())
    return reached


def covers(entry, header):
    """Whether an entry of PURE, a layer or a file without its extension, stands for the header."""
    return header.startswith(DETAIL + entry + ("" if entry.endswith("/") else "."))


def denied_to(header):
    if not header.startswith(DETAIL):
        return DENIED_TO_HOSTS
    return DENIED_TO_PURE if any(covers(entry, header) for entry in PURE) else None


def stale(headers):
    """The entries of PURE without a file."""
    return [f"PURE: {entry} does not exist" for entry in PURE
            if not any(covers(entry, header) for header in headers)]


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
    direct = includes(command, include, headers)
    problems = [p for name in headers for p in problems_of(name, closure(name, direct))]
    problems += stale(headers)
    print(*problems, f"{len(headers)} headers checked, {len(problems)} problems", sep="\n")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
