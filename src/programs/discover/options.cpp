#include "options.hpp"

#include "cli/dialect_option.hpp"
#include "cli/discovery_options.hpp"
#include "cli/process_variables.hpp"
#include "cli/server_options.hpp"
#include "cli/warm_options.hpp"
#include "k8s_sd/config_yaml.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace discover {

namespace {

using cli::either;
using cli::flag;
using cli::names_of;
using cli::UsageError;
using Text = const std::string&;

cli::Choices<Output> outputs() {
    return {{"text", Output::text},
            {"json", Output::json},
            {"targets", Output::targets},
            {"quiet", Output::quiet}};
}

cli::Choices<k8s_sd::Compression> compressions() {
    using enum k8s_sd::Compression;
    return {{"auto", automatic}, {"on", always}, {"off", never}};
}

/// Whether to request protobuf.
cli::Choices<bool> encodings() { return {{"protobuf", true}, {"json", false}}; }

cli::Section recording_options(Options& o) {
    cli::Section section{
        "Recordings",
        {{"--replay", "FILE",
          "discover from a recording instead of a server; give the options for what to "
          "discover as in the recorded run",
          cli::text(o.replay_file)},
         cli::Option{"--until", "SECONDS", "end the replay at this time of the recording",
                     [&o](Text v) { o.until = cli::seconds(v); }}
             .with({"--replay"}),
         cli::Option{"--speed", "FACTOR",
                     "replay so many times as fast as recorded (default: as fast as possible)",
                     [&o](Text v) { o.speed = cli::number(v, 0.001, 1e6, "0.001 to 1000000"); }}
             .with({"--replay"})}};
    std::vector<cli::Option> record = cli::record_options(o.record);
    section.options.insert(section.options.begin(), record.begin(), record.end());
    return section;
}

cli::Section server_options(Options& o) {
    cli::Section section = cli::several_server_options(
        o.config, o.clusters, "$KUBECONFIG, the pod's service account, ~/.kube/config");
    section.options.insert(
        section.options.begin(),
        {"--sim", "", "discover a simulated cluster in this process", flag(o.sim)});
    return section;
}

cli::Section config_options(Options& o) {
    cli::Section section{"What to discover",
                         {{"--sd-config", "FILE",
                           "an entry of kubernetes_sd_configs in YAML, in the form of Prometheus "
                           "or vmagent; the options below add to it",
                           [](Text) {}}}};  // applied by load_base()
    for (cli::Option& option : cli::discovery_options(o.config)) {
        section.options.push_back(std::move(option));
    }
    section.options.push_back(
        cli::dialect_option("dialect of labels:", o.config.dialect, o.config.prometheus_version));
    return section;
}

cli::Section permission_options(Options& o) {
    cli::Section section{
        "Permissions, in place of a run",
        {{"--check", "",
          "try each step of this configuration (--timeout for each, default 10) and print a line "
          "for it; status 0 if all succeed, else 1, also after a signal",
          flag(o.check)},
         {"--print-rbac", "", "print the required roles for kubectl apply -f -; contacts no server",
          flag(o.print_rbac)},
         cli::Option{
             "--monitors", "",
             "with either: also the permissions of k8s-sd --monitors for monitors, namespaces, "
             "Secrets and ConfigMaps; the dialect selects the kinds of monitors",
             flag(o.monitors)}
             .with({"--check", "--print-rbac"}),
         cli::Option{"--service-account", "NS/NAME",
                     "subject of the roles (default default/k8s-sd)", cli::text(o.service_account)}
             .with({"--print-rbac"})}};
    return section;
}

cli::Section run_options(Options& o) {
    return {
        "Run",
        {{"--jobs", "N", "N discoverers with this configuration (default 1)",
          [&](Text v) { o.jobs = cli::number(v, 1u, 100'000u, "a number from 1 to 100000"); }},
         {"--once", "",
          "end after the first complete state; status 3 if waiting cannot help: a permission is "
          "missing, credentials or the certificate are refused",
          flag(o.once)},
         {"--timeout", "SECONDS", "end after this time; status 3 if the state is still incomplete",
          [&](Text v) { o.timeout = cli::seconds(v); }},
         {"--start-jitter", "SECONDS",
          "maximum random delay before the start, to spread many programs",
          [&](Text v) { o.config.watch.start_jitter = cli::seconds(v); }},
         {"--poll-interval", "SECONDS",
          "interval of lists without permission to watch (default 60)",
          [&](Text v) { o.config.watch.poll_interval = cli::seconds(v); }},
         {"--trust-suspicious-lists", "",
          "remove objects missing in a list at once; by default a second list confirms the loss of "
          "more than half of the objects",
          [&](Text) { o.config.watch.confirm_suspicious_lists = false; }},
         {"--no-watch-list", "", "request lists with LIST, not as the first events of a watch",
          [&](Text) { o.config.watch.watch_list = false; }},
         {"--gzip", "WHEN",
          "request compressed lists: " + either(names_of(compressions()), "auto") +
              "; auto: on a slow network",
          cli::choice(o.config.watch.gzip, compressions())},
         {"--encoding", "FORMAT",
          "encoding to request: " + either(names_of(encodings()), "protobuf") +
              "; servers without protobuf send JSON",
          cli::choice(o.config.watch.protobuf, encodings())},
         {"--with-managed-fields", "",
          "request metadata.managedFields, too, although nothing reads them",
          [&](Text) { o.config.watch.drop_managed_fields = false; }},
         {"--status-interval", "SECONDS",
          "report the status of each watch on standard error, at this interval",
          [&](Text v) { o.status_interval = cli::seconds(v); }}}};
}

cli::Section output_options(Options& o) {
    cli::Section section{"Output",
                         {{"--output", "FORMAT",
                           "text (default): for people\n"
                           "json: one object a line for each change\n"
                           "targets: with --once, one array of all targets' labels\n"
                           "quiet: counts only",
                           cli::choice(o.output, outputs())},
                          {"--explain", "SOURCE",
                           "print the origin of each label of this object's targets, and end; for "
                           "example pod/shop/web-1, with --output text or json",
                           [&](Text v) {
                               o.explain = v;
                               o.once = true;
                           }},
                          {"--color", "WHEN",
                           either(names_of(cli::colour_choices()), "auto") +
                               ": on a terminal, unless $NO_COLOR is set",
                           cli::choice(o.colours, cli::colour_choices())}}};
    for (cli::Option& option : cli::log_options(o.log)) {
        section.options.push_back(std::move(option));
    }
    return section;
}

/// The dialect determines the parsing of the file of --sd-config and of the other options.
void load_base(Options& options, const std::vector<cli::GivenOption>& given) {
    const std::string* file = nullptr;
    for (const cli::GivenOption& item : given) {
        if (item.option->name == "--dialect") item.set();
        if (item.option->name == "--kubeconfig") options.own_kubeconfig = true;
        if (item.option->name != "--sd-config") continue;
        if (file) throw UsageError("--sd-config: may be given once only");
        file = &item.value;
    }
    if (!file) return;
    const k8s_sd::PrometheusVersion version = options.config.prometheus_version;
    options.config =
        k8s_sd::load_sd_config(*file, options.config.dialect, cli::process_variables());
    options.config.prometheus_version = version;
    options.sd_config = *file;
}

}  // namespace

cli::CommandLine command_line(Options& options) {
    return {.program = "discover",
            .about = "Watches a Kubernetes cluster and prints its scrape targets and how they "
                     "change.\n\n"
                     "Try it without a cluster:  discover --sim\n",
            .sections = {server_options(options), cli::credential_options(options.config),
                         config_options(options), permission_options(options), run_options(options),
                         cli::profile_options(
                             options.profiles, options.profiles_wanted,
                             "discover the clusters that the hub, the server above, describes; "
                             "with --check and --print-rbac: the access to the hub only"),
                         recording_options(options), cli::fleet_options(options.fleet),
                         cli::fleet_rule_options(options.fleet), cli::agent_options(options.fleet),
                         cli::warm_options(options.warm_start), output_options(options)},
            .notes = "Exit status: 0 fine, 2 unusable arguments or configuration, 3 not synced in "
                     "time\n(with --once also: never to be synced), 1 anything else.\nSIGINT and "
                     "SIGTERM end it with 0, and --check with 1.\n",
            .prepare = [&](const auto& given) { load_base(options, given); },
            .checking_option = "--check",
            .print_error = cli::error_writer("discover", options.log)};
}

namespace {

/// Refuses options with an effect on a normal run only: they would be ignored.
void check_what_replaces_a_run(const Options& o) {
    const std::string instead = o.check ? "--check" : "--print-rbac";
    const auto refuse = [&instead](bool given, const char* option) {
        if (given) throw UsageError(std::string(option) + ": has no meaning with " + instead);
    };
    refuse(o.once, "--once");
    refuse(o.jobs != 1, "--jobs");
    refuse(o.status_interval.has_value(), "--status-interval");
    refuse(o.config.watch.start_jitter > k8s_sd::Duration{}, "--start-jitter");
    refuse(o.output == Output::targets || o.output == Output::quiet, "--output");
    refuse(o.fleet.is_fleet(), "--fleet-service");
    refuse(!o.fleet.listen.empty(), "--listen");
    refuse(!o.warm_start.directory.empty(), "--snapshot-dir");
    if (o.check) return;
    refuse(o.output != Output::text, "--output");
    refuse(o.timeout.has_value(), "--timeout");
    refuse(o.sim, "--sim");
}

}  // namespace

namespace {

void check_recording(const Options& o) {
    const auto refuse = [](bool given, const std::string& option, const std::string& name) {
        if (given) throw UsageError(option + ": cannot be used together with " + name);
    };
    const std::string name = o.replay_file.empty() ? "--record" : "--replay";
    refuse(!o.replay_file.empty() && !o.record.file.empty(), "--record", name);
    refuse(o.check, "--check", name);
    refuse(o.print_rbac, "--print-rbac", name);
    if (o.replay_file.empty()) return;
    refuse(o.sim, "--sim", name);
    refuse(o.fleet.is_fleet(), "--fleet-service", name);
    refuse(!o.fleet.listen.empty(), "--listen", name);
    refuse(!o.warm_start.directory.empty(), "--snapshot-dir", name);
    refuse(o.timeout.has_value(), "--timeout", name);
    refuse(o.status_interval.has_value(), "--status-interval", name);
}

}  // namespace

namespace {

void check_clusters(const Options& o) {
    cli::ClusterOptions clusters = o.clusters;
    clusters.profiles = o.profiles_wanted && !o.check && !o.print_rbac;
    cli::check(clusters);
    if (!clusters.several()) return;
    const auto refuse = [](bool given, const char* option) {
        if (given) throw UsageError(std::string(option) + ": is for one cluster; name one context");
    };
    refuse(o.sim, "--sim");
    refuse(!o.explain.empty(), "--explain");
    refuse(o.jobs != 1, "--jobs");
    refuse(o.fleet.is_fleet(), "--fleet-service");
    refuse(!o.fleet.listen.empty(), "--listen");
    refuse(!o.record.file.empty(), "--record");
    refuse(!o.replay_file.empty(), "--replay");
}

}  // namespace

void check(const Options& options) {
    check_clusters(options);
    if (!options.record.file.empty() || !options.replay_file.empty()) check_recording(options);
    if (options.once && options.config.watch.start_jitter > k8s_sd::Duration{}) {
        throw UsageError("--start-jitter: --once is over before others could start");
    }
    if (options.check && options.print_rbac) {
        throw UsageError("--check: asks a server, and --print-rbac asks none; give one of them");
    }
    if (!options.explain.empty() && (options.check || options.print_rbac)) {
        throw UsageError("--explain: is not a part of --check or --print-rbac");
    }
    cli::check(options.fleet);
    if (options.check || options.print_rbac) check_what_replaces_a_run(options);
    if (options.profiles_wanted && (options.monitors || options.clusters.several())) {
        throw UsageError(
            "--cluster-profiles: the server is the hub; leave out --monitors, and name "
            "one context");
    }
    if (options.output == Output::targets && !options.once) {
        throw UsageError("--output: targets needs --once");
    }
    if (!options.explain.empty() && options.output != Output::text &&
        options.output != Output::json) {
        throw UsageError("--explain: --output must be text or json");
    }
    if (!options.sim) return;
    if (cli::names_server(options.config)) {
        throw UsageError("--sim: simulates the server; leave out options of another one "
                         "(--api-server, --kubeconfig, ... or in the file of --sd-config)");
    }
}

std::string_view option_of_field(std::string_view field) noexcept {
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"role", "--role"},
        {"namespaces", "--namespace"},
        {"own_namespace", "--own-namespace"},
        {"selectors", "--selector"},
    };
    for (const auto& [prefix, option] : options) {
        if (field.starts_with(prefix)) return option;
    }
    return cli::option_of_server_field(field);
}

}  // namespace discover
