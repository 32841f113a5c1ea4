#include "cli/fleet_options.hpp"

#include "cli/listen_address.hpp"
#include "cli/option_values.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace cli {

namespace {

using Text = const std::string&;

/// The name of the pod: the host name, unless the pod specifies another one.
std::string own_name() {
    if (const char* pod = std::getenv("POD_NAME"); pod && *pod) return pod;
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// "INDEX/COUNT", e.g. "0/3".
k8s_sd::ObjectShare object_share(Text text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) throw UsageError("must be INDEX/COUNT, e.g. 0/3");
    constexpr unsigned max = 1'000'000;
    const auto index = number(text.substr(0, slash), 0u, max, "an index from 0");
    const auto parts = number(text.substr(slash + 1), 1u, max, "a number of parts");
    try {
        return k8s_sd::ObjectShare::part(index, parts);
    } catch (const k8s_sd::ConfigError& e) {
        throw UsageError(e.problem());
    }
}

k8s_sd::WatcherConfig place_of(const FleetOptions& options, const k8s_sd::DiscoveryConfig& server) {
    k8s_sd::WatcherConfig where;
    where.api_server = server.api_server;
    where.kubeconfig_file = server.kubeconfig_file;
    where.kubeconfig_context = server.kubeconfig_context;
    where.watch = server.watch;
    if (!options.service_namespace.empty()) where.namespaces = {options.service_namespace};
    return where;
}

/// The options that make the program a member of a fleet.
std::vector<std::string> fleets() {
    return {"--fleet-service", "--fleet-leases", "--fleet-members"};
}

}  // namespace

Section fleet_options(FleetOptions& o) {
    return {
        "Sharing targets with other members of a fleet",
        {{"--fleet-service", "NAME",
          "the members are the pods of this headless Service; a member gets its share when it is "
          "ready, see --listen",
          text(o.service)},
         {"--fleet-leases", "NAME",
          "instead of a Service: each member renews a Lease named NAME.MEMBER every 10 s; detects "
          "hanging programs. With $POD_UID the Lease is deleted with the pod",
          text(o.leases)},
         Option{"--fleet-namespace", "NAME",
                "namespace of the Service or of the Leases (default: that of this program's pod)",
                text(o.service_namespace)}
             .with({"--fleet-service", "--fleet-leases"}),
         {"--fleet-members", "N",
          "instead of a Service: a fixed number of members, such as the pods of a StatefulSet",
          [&o](Text v) { o.members = number(v, 1u, 100'000u, "a number from 1 to 100000"); }},
         Option{
             "--member", "NAME",
             "name of this member: that of its pod (default: $POD_NAME, else the host name); with "
             "--fleet-members a name with a number at its end, such as agent-0",
             text(o.self)}
             .with(fleets()),
         Option{"--fleet-replicas", "N", "number of owners of each target (default 1)",
                [&o](Text v) { o.replicas = number(v, 1u, 1000u, "a number from 1 to 1000"); }}
             .with(fleets()),
         Option{"--fleet-drain", "SECONDS",
                "continue for this time after SIGTERM, until other members have started; less than "
                "the pod's terminationGracePeriodSeconds (default 0). A second signal ends the "
                "program",
                [&o](Text v) { o.drain = seconds(v); }}
             .with(fleets())}};
}

Section fleet_rule_options(FleetOptions& o) {
    return {
        "Rules for changes of the fleet; the same in all members",
        {Option{"--fleet-wait-for-size", "N",
                "no member gets a share until this number of members is ready, or until "
                "--fleet-wait-timeout",
                [&o](Text v) { o.rules.wait_for_size = count(v); }}
             .with(fleets()),
         Option{"--fleet-wait-timeout", "SECONDS", "maximum wait for that number (default 300)",
                [&o](Text v) { o.rules.wait_timeout = seconds(v); }}
             .with({"--fleet-wait-for-size"}),
         Option{"--fleet-debounce", "SECONDS",
                "adopt a change of the members after this time without further changes (default 2)",
                [&o](Text v) { o.rules.debounce = seconds(v); }}
             .with(fleets()),
         Option{"--fleet-hold-down", "SECONDS",
                "a member vanished without termination keeps its share for this time (default 15)",
                [&o](Text v) { o.rules.hold_down = seconds(v); }}
             .with(fleets())}};
}

Section fleet_division_options(FleetOptions& o) {
    return {
        "Discovery of a part of the cluster; the same in all members",
        {Option{
             "--fleet-divide", "",
             "list and watch only the part of this member: some of the pods, nodes or services, or "
             "some of the namespaces if a configuration names several or its role joins kinds",
             flag(o.divide)}
             .with(fleets()),
         Option{"--fleet-slots", "N",
                "number of parts assigned to the members, a power of two (default 256); more parts "
                "make the shares of many members more equal",
                [&o](Text v) {
                    constexpr const char* allowed = "a power of two, at most 4096";
                    o.slots = number(v, 1u, 4096u, allowed);
                    if (!std::has_single_bit(o.slots))
                        throw UsageError(std::string("must be ") + allowed);
                }}
             .with({"--fleet-divide"})}};
}

Section agent_options(FleetOptions& o) {
    return {"Agents in a cluster",
            {{"--per-node", "NODE",
              "for an agent on each node, as in a DaemonSet: only the objects of this node. "
              "Refuses roles without such a restriction",
              text(o.node)},
             Option{"--allow-cluster-wide", "",
                    "with --per-node: accepts such roles without restriction",
                    flag(o.allow_cluster_wide)}
                 .with({"--per-node"}),
             {"--object-share", "INDEX/COUNT",
              "only this one of COUNT parts of the pods, nodes or services, by uid, e.g. 0/3; "
              "servers with KEP-5866 send only this part",
              [&o](Text v) { o.share = object_share(v); }},
             {"--listen", "ADDRESS:PORT",
              "serve /livez, /readyz, /metrics and /fleet, e.g. on 0.0.0.0:8080; /readyz is 200 "
              "once everything has been listed and the members of the fleet are visible",
              [&o](Text v) {
                  listen_address(v);
                  o.listen = v;
              }}}};
}

void check(const FleetOptions& options) {
    const int sources = (options.service.empty() ? 0 : 1) + (options.leases.empty() ? 0 : 1) +
                        (options.members == 0 ? 0 : 1);
    if (sources > 1) {
        throw UsageError("--fleet-service, --fleet-leases and --fleet-members: each names the "
                         "members; give one of them");
    }
    if (!options.share.is_all() && options.divide) {
        throw UsageError("--object-share and --fleet-divide: both say which part is discovered");
    }
}

void adapt(k8s_sd::DiscoveryConfig& config, const FleetOptions& options) {
    if (!options.node.empty()) {
        using k8s_sd::ClusterWide;
        config =
            k8s_sd::per_node(std::move(config), options.node,
                             options.allow_cluster_wide ? ClusterWide::allow : ClusterWide::refuse);
    }
    if (!options.share.is_all()) config.share = options.share;
    if (options.divide) {
        config.division = k8s_sd::usual_division(config);
        config.division.slots = options.slots;
    }
    const std::size_t members = std::max<std::size_t>(options.members, options.rules.wait_for_size);
    if (config.watch.start_jitter == k8s_sd::Duration{}) {
        config.watch.start_jitter = k8s_sd::fleet_start_jitter(members);
    }
}

k8s_sd::MembershipConfig membership_config(const boost::asio::any_io_executor& executor,
                                           const FleetOptions& options,
                                           const k8s_sd::DiscoveryConfig& server,
                                           const k8s_sd::WarmStart& warm) {
    k8s_sd::MembershipConfig config;
    config.self = options.self.empty() ? own_name() : options.self;
    config.replicas = options.replicas;
    config.rules = options.rules;
    config.snapshot_directory = warm.directory;
    config.snapshot_max_age = warm.max_age;
    if (options.members != 0) {
        try {
            config.source = k8s_sd::static_members(
                executor, k8s_sd::ordinal_members(config.self, options.members));
        } catch (const k8s_sd::ConfigError& e) {
            throw UsageError("--member: \"" + config.self + "\" " + e.problem());
        }
    } else if (!options.leases.empty()) {
        const char* uid = std::getenv("POD_UID");
        config.source = k8s_sd::lease_members(executor, {.fleet = options.leases,
                                                         .self = config.self,
                                                         .pod_uid = uid ? uid : "",
                                                         .where = place_of(options, server)});
    } else {
        config.source =
            k8s_sd::service_members(executor, options.service, place_of(options, server));
    }
    return config;
}

}  // namespace cli
