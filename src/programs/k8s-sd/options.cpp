#include "options.hpp"

#include "cli/dialect_option.hpp"
#include "cli/discovery_options.hpp"
#include "cli/listen_address.hpp"
#include "cli/option_values.hpp"
#include "cli/process_variables.hpp"
#include "cli/server_options.hpp"
#include "cli/warm_options.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using cli::UsageError;
using Text = const std::string&;

std::size_t bytes_of_memory(Text text) {
    constexpr std::size_t min = std::size_t{1} << 20;
    constexpr std::size_t max = std::size_t{1} << 40;
    return cli::number(text, min, max, "1048576 to 1099511627776");
}

/// Requests are compared without the port of their host.
std::string host_name(Text text) {
    if (text.empty() || text.find_first_of(":/ \t") != std::string::npos) {
        throw UsageError("must be a name without a port, such as k8s-sd.example.org; addresses are "
                         "always permitted");
    }
    return text;
}

cli::Section config_options(Options& o) {
    return {
        "Jobs of a file",
        {{"--config", "FILE",
          "configuration file of Prometheus or vmagent with scrape_configs; read again when it "
          "changes, on SIGHUP and on POST /-/reload",
          cli::text(o.config_file)},
         cli::Option{"--strict", "",
                     "refuse a file with ignored keys, or with a mistake in any job",
                     cli::flag(o.strict)}
             .with({"--config"}),
         cli::Option{
             "--check", "",
             "read the file, print its mistakes and jobs, and end, with status 2 after a mistake; "
             "opens no port, contacts no server",
             cli::flag(o.check)}
             .with({"--config", "--monitors-config"}),
         cli::Option{
             "--ready-with-left-out-jobs", "",
             "/readyz is 200 although a mistake leaves out jobs at the start; by default 503, so a "
             "rolling update keeps the replicas with these jobs",
             cli::flag(o.ready_with_left_out_jobs)}
             .with({"--config", "--monitors", "--monitors-config", "--monitors-owner"}),
         cli::dialect_option("dialect of the file and of labels:", o.dialect, o.prometheus_version),
         cli::Option{"--check-interval", "SECONDS",
                     "interval of checks for changes of the file (default 5)",
                     [&](Text v) { o.check_interval = cli::seconds(v); }}
             .with({"--config"})}};
}

cli::Section monitors_options(MonitorsOptions& o) {
    const std::vector<std::string> enabling{"--monitors", "--monitors-config", "--monitors-owner"};
    return {
        "Jobs from ServiceMonitors, PodMonitors, Probes and ScrapeConfigs of the cluster",
        {{"--monitors", "",
          "serve their jobs in addition to those of --config: all of them, without the next two "
          "options; with --dialect victoriametrics those of VMServiceScrapes, VMPodScrapes, "
          "VMProbes, VMNodeScrapes, VMStaticScrapes and VMScrapeConfigs",
          cli::flag(o.enabled)},
         {"--monitors-config", "FILE",
          "selects monitors and settings of their jobs: a Prometheus, PrometheusAgent, VMAgent or "
          "VMSingle object in YAML, or the configuration of a Target Allocator with prometheus_cr",
          [&](Text v) {
              o.file = cli::readable_file(v);
              o.enabled = true;
          }},
         {"--monitors-owner", "[KIND/]NAMESPACE/NAME",
          "the same from a Prometheus object in the cluster (or KIND PrometheusAgent, VMAgent, "
          "VMSingle), followed while it changes",
          [&](Text v) {
              try {
                  parse_owner_name(v);
              } catch (const k8s_sd::ConfigError& e) {
                  throw UsageError("\"" + v + "\" " + e.problem());
              }
              o.owner = v;
              o.enabled = true;
          }},
         cli::Option{"--monitors-namespace", "NAME",
                     "namespace of the owner in a file, for selectors without a namespace selector "
                     "(default: default)",
                     cli::text(o.own_namespace)}
             .with({"--monitors-config"}),
         cli::Option{
             "--monitors-max-jobs", "N",
             "maximum number of jobs of all monitors, shared by namespaces; further monitors are "
             "refused (default 100000)",
             [&](Text v) { o.quota.jobs = cli::number(v, 1U, 10'000'000U, "1 to 10000000"); }}
             .with(enabling),
         cli::Option{
             "--monitors-max-bytes", "N",
             "maximum size of the configurations of these jobs, with the values of Secrets and "
             "compiled regular expressions, shared in the same way (default 536870912)",
             [&](Text v) { o.quota.bytes = bytes_of_memory(v); }}
             .with(enabling)}};
}

cli::Section single_job_options(Options& o) {
    cli::Section section{
        "A single job, without a file",
        {{"--job", "NAME", "name of the job (default: its role)", cli::text(o.job_name)}}};
    for (cli::Option& option : cli::discovery_options(o.discovery)) {
        section.options.push_back(std::move(option));
    }
    return section;
}

cli::Section serve_options(Options& o) {
    cli::Section section{
        "Serve",
        {{"--listen", "ADDRESS:PORT",
          "address of the server (default 127.0.0.1:8080; in a pod [::]:8080); port 0: a free port",
          [&](Text v) {
              cli::listen_address(v);
              o.listen = v;
          }},
         {"--hold", "SECONDS",
          "maximum wait of a request for the first complete list of a job, then 503 (default 20; "
          "less if the reader announces a shorter timeout)",
          [&](Text v) { o.serve.hold = cli::seconds(v); }},
         {"--start-without-clusters", "SECONDS",
          "maximum wait of a job for all its clusters at the start; then it is served with the "
          "listed ones, at least one; or never (default 30)",
          [&](Text v) {
              o.serve.start_without_clusters.reset();
              if (v != "never") o.serve.start_without_clusters = cli::seconds(v);
          }},
         {"--max-connections", "N",
          "maximum number of clients; further ones get 503 (default 10000)",
          [&](Text v) { o.http.connections = cli::number(v, 1U, 1'000'000U, "1 to 1000000"); }},
         {"--max-selections", "N",
          "maximum number of requested shards and nodes of a list within ten minutes; further ones "
          "get 503 (default 10000)",
          [&](Text v) { o.serve.lists.views = cli::number(v, 1U, 1'000'000U, "1 to 1000000"); }},
         {"--max-list-bytes", "N",
          "maximum size of all lists, including those still being sent to readers; further ones "
          "get 503 (default 4294967296)",
          [&](Text v) { o.serve.lists.held_bytes = bytes_of_memory(v); }},
         {"--page-dir", "DIRECTORY",
          "read the files of the page from there at each request, for their development",
          cli::text(o.page_directory)},
         {"--threads", "N", "number of threads for the jobs (default 1)",
          [&](Text v) { o.threads = cli::number(v, 1U, 1024U, "1 to 1024"); }}}};
    for (cli::Option& option : cli::log_options(o.log)) {
        section.options.push_back(std::move(option));
    }
    return section;
}

cli::Section recording_options(Options& o) { return {"Recording", cli::record_options(o.record)}; }

cli::Section allocator_options(TargetAllocatorOptions& o) {
    const cli::Choices<Allocation> allocations{
        {"consistent-hashing", Allocation::consistent_hashing}, {"per-node", Allocation::per_node}};
    const std::vector<std::string> enabling{"--collectors", "--collector-selector"};
    return {
        "Allocate targets to OpenTelemetry collectors",
        {{"--collectors", "N", "number of collectors, numbered from 0",
          [&](Text v) { o.collectors = cli::number(v, 1U, 10'000U, "1 to 10000"); }},
         cli::Option{"--collector-prefix", "TEXT",
                     "prefix of their names, before the number (default " + o.prefix + ")",
                     cli::text(o.prefix)}
             .with({"--collectors"}),
         {"--collector-selector", "LABELS",
          "the collectors are the pods with these labels, e.g. app=otel-collector",
          cli::text(o.selector)},
         cli::Option{"--collector-namespace", "NAME",
                     "namespace of these pods (default: that of this pod)", cli::text(o.ns)}
             .with({"--collector-selector"}),
         cli::Option{"--collector-grace", "SECONDS",
                     "time for which an unready pod keeps its targets (default 30)",
                     [&](Text v) { o.grace = cli::seconds(v); }}
             .with({"--collector-selector"}),
         cli::Option{"--allocation", "STRATEGY",
                     cli::either(cli::names_of(allocations), "consistent-hashing"),
                     cli::choice(o.allocation.allocation, allocations)}
             .with(enabling),
         cli::Option{"--allocation-fallback", "",
                     "with per-node: allocate targets without a collector on their node by "
                     "consistent hashing",
                     cli::flag(o.allocation.fallback)}
             .with({"--collector-selector"}),
         cli::Option{
             "--handover", "SECONDS",
             "time for which the previous owner keeps a target after a change of the collectors "
             "(default: none)",
             [&](Text v) { o.handover = cli::seconds(v); }}
             .with({"--collector-selector"}),
         cli::Option{"--allow-insecure-auth-secrets", "",
                     "show the secrets of /scrape_configs to all clients, not only to those with a "
                     "verified certificate",
                     cli::flag(o.show_secrets)}
             .with(enabling)}};
}

cli::Section access_options(Options& o) {
    const auto file = [](std::string& member) {
        return [&member](Text v) { member = cli::readable_file(v); };
    };
    return {
        "Access; files are read again when they change, and on SIGHUP",
        {cli::Option{"--tls-cert", "FILE",
                     "serve HTTPS with this certificate (PEM), with --tls-key", file(o.tls.cert)}
             .with({"--tls-key"}),
         cli::Option{"--tls-key", "FILE", "its private key (PEM)", file(o.tls.key)}.with(
             {"--tls-cert"}),
         cli::Option{"--tls-client-ca", "FILE",
                     "CA certificates (PEM) to verify the certificates of clients",
                     file(o.tls.client_ca)}
             .with({"--tls-cert"}),
         cli::Option{
             "--tls-client-name", "NAME",
             "required name in the certificate of a client: the common name, or an alternative "
             "name (DNS, URI, e-mail); repeatable: one of them; by default any name",
             [&](Text v) { o.tls.client_names.push_back(v); }}
             .with({"--tls-client-ca"}),
         cli::Option{"--tls-require-client-cert", "",
                     "refuse clients without a certificate, except for probes",
                     cli::flag(o.access.require_client_cert)}
             .with({"--tls-client-ca"}),
         {"--list-token-file", "FILE",
          "tokens for lists, one a line; also for the page, its data and /-/reload, unless "
          "they have their own file",
          file(o.access.list_token_file)},
         {"--page-token-file", "FILE", "tokens for the page, Prometheus' API and /-/reload",
          file(o.access.page_token_file)},
         {"--control-token-file", "FILE", "tokens for /-/reload",
          file(o.access.control_token_file)},
         {"--metrics-token-file", "FILE", "tokens for /metrics; by default it needs none",
          file(o.access.metrics_token_file)},
         {"--allow-host", "NAME",
          "permitted host name in requests, besides addresses and localhost; repeatable; by "
          "default all names, unless the server listens on localhost only",
          [&](Text v) { o.access.hosts.push_back(host_name(v)); }}}};
}

cli::Section push_options(Options& o) {
    return {
        "Report changes",
        {{"--write-dir", "DIR",
          "write the list of each job to DIR/JOB.json when it changes, for file_sd_configs; DIR is "
          "created if missing",
          cli::text(o.write_folder)},
         cli::Option{"--write-list", "LIST",
                     "the list to write: targets (default), relabelled, or discovered",
                     [&](Text v) {
                         o.write_form =
                             cli::one_of<ListForm>(v, {{"targets", ListForm::relabelled},
                                                       {"discovered", ListForm::discovered}});
                     }}
             .with({"--write-dir"}),
         {"--max-watches", "N",
          "maximum number of readers of /v1/watch; further ones get 503 (default 1000)",
          [&](Text v) { o.serve.watch_readers = cli::number(v, 1U, 1'000'000U, "1 to 1000000"); }},
         {"--heartbeat", "SECONDS",
          "interval of heartbeats in a stream without changes (default 15)",
          [&](Text v) { o.serve.heartbeat = cli::seconds(v); }}}};
}

cli::Section server_options(Options& o) {
    cli::Section section = cli::several_server_options(
        o.server, o.clusters,
        "a pod's own cluster; for a single job also $KUBECONFIG, ~/.kube/config");
    section.options.insert(
        section.options.begin(),
        {"--sim", "", "discover a simulated cluster in this process, with a change every second",
         cli::flag(o.sim)});
    return section;
}

cli::Section profile_options(Options& o) {
    return cli::profile_options(
        o.profiles, o.clusters.profiles,
        "each ClusterProfile is a cluster, with its NAMESPACE/NAME as a label of its targets; the "
        "server above is their hub, with Secrets for the kubeconfigs");
}

void check_single_job(const k8s_sd::DiscoveryConfig& discovery) {
    try {
        validate(discovery);
    } catch (const k8s_sd::ConfigError& e) {
        throw UsageError(e.what());
    }
}

void check_clusters(const Options& o) {
    cli::check(o.clusters);
    if (!o.clusters.several()) return;
    const char* const remedy =
        o.clusters.profiles ? "leave out --cluster-profiles" : "name one context";
    const auto refuse = [&](bool given, const char* option, const char* what) {
        if (given)
            throw UsageError(std::string(option) + ": " + what + " one cluster; " + remedy +
                             ", or start a second k8s-sd");
    };
    refuse(o.sim, "--sim", "is");
    refuse(o.monitors.enabled, "--monitors", "reads the monitors of");
    refuse(!o.allocator.selector.empty(), "--collector-selector", "selects the pods of");
    refuse(!o.record.file.empty(), "--record", "records");
}

}  // namespace

cli::CommandLine command_line(Options& o) {
    const cli::Section single = single_job_options(o);
    std::vector<std::string> names;
    for (const cli::Option& option : single.options) names.push_back(option.name);
    const auto prepare = [&o, names](const std::vector<cli::GivenOption>& given) {
        // The dialect decides how roles are parsed, so set it first.
        for (const cli::GivenOption& option : given) {
            if (option.option->name == "--dialect") option.set();
            o.single_job = o.single_job || std::find(names.begin(), names.end(),
                                                     option.option->name) != names.end();
        }
        o.discovery.dialect = o.dialect;
        o.discovery.prometheus_version = o.prometheus_version;
        o.monitors.dialect = o.dialect;
    };
    return {.program = "k8s-sd",
            .about = "Discovers the targets of a Kubernetes cluster, once for all agents, and "
                     "serves them over HTTP\nfor http_sd_configs of Prometheus, vmagent and "
                     "others.\n\n"
                     "Try it without a cluster:  k8s-sd --sim\n"
                     "Keep lists in files beside an agent:  k8s-sd follow --help\n",
            .sections = {config_options(o), single, monitors_options(o.monitors), server_options(o),
                         profile_options(o), cli::credential_options(o.server), serve_options(o),
                         access_options(o), push_options(o), cli::warm_options(o.serve.warm_start),
                         recording_options(o), allocator_options(o.allocator)},
            .notes = "Exit status: 0 fine, 2 unusable arguments, an unusable folder, or a "
                     "configuration of which\nnothing can be used, 1 anything else. A mistake in "
                     "one job leaves that job out; only with\n--check and --strict the status is "
                     "2 then. SIGINT and SIGTERM end it with 0.\n",
            .prepare = prepare,
            .on_signal = cli::CommandLine::OnSignal::end_or_reload,
            .checking_option = "--check",
            .print_error = cli::error_writer("k8s-sd", o.log)};
}

k8s_sd::ScrapeConfigOptions scrape_config_options(const Options& o) {
    return {.dialect = o.dialect,
            .prometheus_version = o.prometheus_version,
            .strict = o.strict,
            .variables = cli::process_variables()};
}

void check_lists_jobs(const k8s_sd::ScrapeConfigFile& file, const std::string& path) {
    if (file.lists_jobs) return;
    throw k8s_sd::ConfigError(path, "has no jobs; to have none, write scrape_configs: []");
}

void check(const Options& o) {
    if (o.sim && cli::names_server(o.server)) {
        throw UsageError("--sim: simulates the server; leave out options of another one");
    }
    check_clusters(o);
    if (o.single_job && !o.config_file.empty()) {
        throw UsageError("--config: the file defines the jobs; leave out options of a "
                         "single job");
    }
    if (o.allocator.collectors > 0 && !o.allocator.selector.empty()) {
        throw UsageError("--collectors: the pods of --collector-selector define their number");
    }
    if (o.allocator.allocation.allocation == Allocation::per_node && o.allocator.collectors > 0) {
        throw UsageError("--allocation: per-node needs --collector-selector, as only pods have "
                         "nodes");
    }
    const bool is_per_node = o.allocator.allocation.allocation == Allocation::per_node;
    if (o.allocator.allocation.fallback && !is_per_node) {
        throw UsageError("--allocation-fallback: needs --allocation per-node");
    }
    if (!o.monitors.file.empty() && !o.monitors.owner.empty()) {
        throw UsageError("--monitors-owner: the file of --monitors-config names the owner");
    }
    if (o.single_job) check_single_job(o.discovery);
    if (o.sim || o.single_job || !o.config_file.empty() || o.monitors.enabled) return;
    throw UsageError("needs --config FILE, options of a single job such as --role pod, --monitors, "
                     "or --sim");
}

}  // namespace k8s_sd_program
