#!/usr/bin/env python3
"""Checks that the guide has each option: every member of a configuration struct of a public header
is in a table of the struct's page.

usage: check_options.py PROJECT
"""
import pathlib
import re
import sys

# The structs of a page in docs/guide, by header in include/k8s_sd.
STRUCTS = {
    "configuration": {"config": ["DiscoveryConfig", "WatchOptions"],
                      "api_server_config": ["ApiServerConfig", "TlsConfig", "AuthConfig"]},
    "discovery-manager": {"discovery_manager": ["Job"]},
    "embedding": {"environment": ["Environment", "ServerLimits"]},
    "monitors": {"monitors/monitor_source": ["MonitorSourceConfig", "MonitorSourceLimits"]},
    "object-cache": {"cache/object_cache": ["ObjectCacheConfig"]},
    "permissions": {"access": ["RbacOptions"]},
    "relabelling": {"relabel/relabeler": ["RelabelOptions", "RelabelLimits"]},
    "scale-out": {"fleet/membership": ["MembershipConfig"], "fleet/fleet_rules": ["FleetRules"],
                  "fleet/member_source": ["LeaseMembersConfig"]},
    "scrape-configs": {"scrape/scrape_config_yaml": ["ScrapeConfigOptions"],
                       "scrape/scrape_config": ["ScrapeConfig"]},
    "scrape-targets": {"scrape/sharding": ["ShardingOptions"]},
    "server": {"api_server_config": ["ExecConfig", "OAuth2Config", "ProxyConfig",
                                     "ImpersonationConfig", "HttpHeader"]},
    "several-clusters": {"inventory/cluster_inventory": ["InventoryConfig"],
                         "config": ["ClusterName"]},
    "target-sources": {"target_configs": ["StaticConfig", "FileSdConfig", "HttpSdConfig"]},
    "testing": {"sim/api_server": ["ApiServerOptions"], "sim/fixture": ["FixtureOptions"],
                "sim/shop": ["ShopOptions"]},
    "warm-start": {"warm_start": ["WarmStart"]},
    "watchers": {"objects/watcher_config": ["WatcherConfig", "ResourceName"]},
}
# Set by the library, not by hosts.
INTERNAL = {"ApiServerConfig": {"kubeconfig"},
            "ExecConfig": {"cluster_server", "cluster_extension"}}
# clang-format indents a member of a struct by four columns.
MEMBER = re.compile(r"^    (?!using |static |auto |enum |struct |explicit |friend |return )"
                    r"[\w:][^/;()=]* (\w+)(?:\{| = |;)", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


def without_template_arguments(text):
    while (shorter := re.sub(r"<[^<>\n]*>", "", text)) != text:
        text = shorter
    return text


def members(header, struct):
    """The data members of a struct in the text of a header; None without the struct."""
    found = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", header, re.MULTILINE | re.DOTALL)
    return MEMBER.findall(without_template_arguments(found[1])) if found else None


def names_in_tables(page):
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    return {name for code in CODE.findall(rows) for name in re.findall(r"\w+", code)}


def page_problems(page, text, headers):
    """\\param headers  for each header its text and the names of its structs"""
    known = names_in_tables(text)
    for header, (content, structs) in headers.items():
        for struct in structs:
            fields = members(content, struct)
            if not fields:
                yield f"include/k8s_sd/{header}.hpp: has no members of a struct {struct}"
                continue
            for field in fields:
                if field not in known and field not in INTERNAL.get(struct, ()):
                    yield f"docs/guide/{page}.md: no table has {struct}::{field}"


def problems(root):
    for page, headers in STRUCTS.items():
        text = (root / f"docs/guide/{page}.md").read_text(encoding="utf-8")
        yield from page_problems(page, text, {
            header: ((root / f"include/k8s_sd/{header}.hpp").read_text(encoding="utf-8"), structs)
            for header, structs in headers.items()})


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(problems(pathlib.Path(sys.argv[1])))
    print(*found, f"{len(STRUCTS)} pages, {len(found)} problems", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
