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

using support::UsageError;
using Text = const std::string&;

std::size_t bytes_of_memory(Text text) {
    constexpr std::size_t min = std::size_t{1} << 20;
    constexpr std::size_t max = std::size_t{1} << 40;
    return support::number(text, min, max, "1048576 to 1099511627776");
}

support::Section config_options(Options& o) {
    return {
        "Which jobs, as a file says it",
        {{"--config", "FILE",
          "the scrape_configs of a Prometheus or vmagent file; read again when it changes, on "
          "SIGHUP and POST /-/reload",
          support::text(o.config_file)},
         {"--strict", "",
          "refuse the file for keys that do not matter here, and for a mistake in any job",
          support::flag(o.strict)},
         {"--check", "",
          "read the file, say what is wrong with it and which jobs it has, and end, with status 2 "
          "if there is a mistake; opens no port, contacts no server",
          support::flag(o.check)},
         {"--ready-with-left-out-jobs", "",
          "/readyz says 200 although a mistake leaves out jobs at the start; without it 503, so "
          "that a rolling update keeps the replicas that have these jobs",
          support::flag(o.ready_with_left_out_jobs)},
         support::dialect_option("read it, and make labels, as", o.dialect, o.prometheus_version),
         {"--check-interval", "SECONDS", "how often to look for changes of the file (default 5)",
          [&](Text v) { o.check_interval = support::seconds(v); }}}};
}

support::Section monitors_options(MonitorsOptions& o) {
    return {"Jobs from ServiceMonitors, PodMonitors, Probes and ScrapeConfigs of the cluster",
            {{"--monitors", "",
              "serve them, besides the jobs of --config; without the next two options all of them; "
              "with --dialect victoriametrics VMServiceScrapes, VMPodScrapes, VMProbes, "
              "VMNodeScrapes, VMStaticScrapes and VMScrapeConfigs",
              support::flag(o.enabled)},
             {"--monitors-config", "FILE",
              "which ones, and how: a Prometheus, PrometheusAgent, VMAgent or VMSingle object in "
              "YAML, or the configuration of a Target Allocator with prometheus_cr",
              [&](Text v) {
                  o.file = support::readable_file(v);
                  o.enabled = true;
              }},
             {"--monitors-owner", "[KIND/]NAMESPACE/NAME",
              "the same from a Prometheus object in the cluster (or KIND PrometheusAgent, VMAgent, "
              "VMSingle), which is followed",
              [&](Text v) {
                  try {
                      parse_owner_name(v);
                  } catch (const k8s_sd::ConfigError& e) {
                      throw UsageError("\"" + v + "\" " + e.problem());
                  }
                  o.owner = v;
                  o.enabled = true;
              }},
             {"--monitors-namespace", "NAME",
              "the namespace of the owner that is no object of the cluster: it counts where there "
              "is no namespace selector (default: default)",
              support::text(o.own_namespace)},
             {"--monitors-max-jobs", "N",
              "of all monitors; while they would have more, namespaces share the number, and the "
              "monitors beyond are refused (default 100000)",
              [&](Text v) { o.room.jobs = support::number(v, 1U, 10'000'000U, "1 to 10000000"); }},
             {"--monitors-max-bytes", "N",
              "of the configurations of these jobs, with the values of Secrets and with compiled "
              "regular expressions, shared the same way (default 536870912)",
              [&](Text v) { o.room.bytes = bytes_of_memory(v); }}}};
}

support::Section single_job_options(Options& o) {
    support::Section section{
        "A single job, without a file",
        {{"--job", "NAME", "what it is called (default: its role)", support::text(o.job_name)}}};
    for (support::Option& option : support::discovery_options(o.discovery)) {
        section.options.push_back(std::move(option));
    }
    return section;
}

support::Section serve_options(Options& o) {
    support::Section section{
        "Serve",
        {{"--listen", "ADDRESS:PORT",
          "where (default 127.0.0.1:8080; in a pod of a cluster [::]:8080); port 0: a free one",
          [&](Text v) {
              support::listen_address(v);
              o.listen = v;
          }},
         {"--hold", "SECONDS",
          "how long a request waits for the first complete list of a job, before it gets 503 "
          "(default 20; less where the reader says that it does not wait so long)",
          [&](Text v) { o.serve.hold = support::seconds(v); }},
         {"--start-without-clusters", "SECONDS",
          "how long a job of several clusters waits for all of them at its start, before it is "
          "served with those that have been listed, at least one; or never (default 30)",
          [&](Text v) {
              o.serve.start_without_clusters.reset();
              if (v != "never") o.serve.start_without_clusters = support::seconds(v);
          }},
         {"--max-connections", "N", "further clients get 503 (default 10000)",
          [&](Text v) { o.http.connections = support::number(v, 1U, 1'000'000U, "1 to 1000000"); }},
         {"--max-selections", "N",
          "different shards and nodes that are asked for of a list within ten minutes; further "
          "ones get 503 (default 10000)",
          [&](Text v) {
              o.serve.lists.views = support::number(v, 1U, 1'000'000U, "1 to 1000000");
          }},
         {"--max-list-bytes", "N",
          "of all lists, with those that readers are still being sent; further ones get 503 "
          "(default 4294967296)",
          [&](Text v) { o.serve.lists.held_bytes = bytes_of_memory(v); }},
         {"--page-dir", "DIRECTORY",
          "read the files of the page there at each request, to work on them",
          support::text(o.page_directory)},
         {"--threads", "N", "threads that work on the jobs (default 1)",
          [&](Text v) { o.threads = support::number(v, 1U, 1024U, "1 to 1024"); }}}};
    for (support::Option& option : support::log_options(o.log)) {
        section.options.push_back(std::move(option));
    }
    return section;
}

support::Section recording_options(Options& o) {
    return {"Recording", support::record_options(o.record)};
}

support::Section allocator_options(TargetAllocatorOptions& o) {
    const support::Choices<Allocation> allocations{
        {"consistent-hashing", Allocation::consistent_hashing}, {"per-node", Allocation::per_node}};
    return {
        "Allocate targets to OpenTelemetry collectors",
        {{"--collectors", "N", "there are so many, with numbers from 0",
          [&](Text v) { o.collectors = support::number(v, 1U, 10'000U, "1 to 10000"); }},
         {"--collector-prefix", "TEXT",
          "what their names begin with, before the number (default " + o.prefix + ")",
          support::text(o.prefix)},
         {"--collector-selector", "LABELS",
          "they are the pods with these labels, e.g. app=otel-collector",
          support::text(o.selector)},
         {"--collector-namespace", "NAME", "of these pods (default: that of this pod)",
          support::text(o.ns)},
         {"--collector-grace", "SECONDS",
          "how long a pod that is not ready keeps its targets (default 30)",
          [&](Text v) { o.grace = support::seconds(v); }},
         {"--allocation", "STRATEGY",
          support::either(support::names_of(allocations), "consistent-hashing"),
          support::choice(o.allocation.allocation, allocations)},
         {"--allocation-fallback", "",
          "with per-node: allocate targets without a collector on their node by consistent hashing",
          support::flag(o.allocation.fallback)},
         {"--handover", "SECONDS",
          "when collectors come or go, the previous owner of a target keeps it for so long "
          "(default: not)",
          [&](Text v) { o.handover = support::seconds(v); }},
         {"--allow-insecure-auth-secrets", "",
          "show the secrets of /scrape_configs to everybody, not only to those with a verified "
          "certificate",
          support::flag(o.show_secrets)}}};
}

support::Section access_options(Options& o) {
    const auto file = [](std::string& member) {
        return [&member](Text v) { member = support::readable_file(v); };
    };
    return {"Access; files are read again when they change, and on SIGHUP",
            {{"--tls-cert", "FILE", "serve HTTPS with this certificate (PEM), with --tls-key",
              file(o.tls.cert)},
             {"--tls-key", "FILE", "its private key (PEM)", file(o.tls.key)},
             {"--tls-client-ca", "FILE", "verify the certificates of clients that have one (PEM)",
              file(o.tls.client_ca)},
             {"--tls-client-name", "NAME",
              "a name of which the certificate of a client must have one: its common name, or an "
              "alternative name (DNS, URI, e-mail); repeatable; without it any name will do",
              [&](Text v) { o.tls.client_names.push_back(v); }},
             {"--tls-require-client-cert", "", "refuse clients that have none, except for probes",
              support::flag(o.access.require_client_cert)},
             {"--list-token-file", "FILE",
              "lists require one of these tokens, one a line; so do the page, its data and "
              "/-/reload, unless they have their own file",
              file(o.access.list_token_file)},
             {"--page-token-file", "FILE", "the same for the page, Prometheus' API, and /-/reload",
              file(o.access.page_token_file)},
             {"--control-token-file", "FILE", "the same for /-/reload",
              file(o.access.control_token_file)},
             {"--metrics-token-file", "FILE", "the same for /metrics, which is open otherwise",
              file(o.access.metrics_token_file)},
             {"--allow-host", "NAME",
              "a name that clients may have for this server, besides addresses and localhost; "
              "repeatable; without it all names are allowed, unless it listens on localhost only",
              [&](Text v) { o.access.hosts.push_back(v); }}}};
}

support::Section push_options(Options& o) {
    return {"Report changes",
            {{"--write-dir", "DIR",
              "write the list of each job to DIR/JOB.json, for file_sd_configs, when it changes; "
              "made if it is missing",
              support::text(o.write_folder)},
             {"--write-list", "LIST",
              "which one: targets (default), which is relabelled, or discovered",
              [&](Text v) {
                  o.write_form = support::one_of<ListForm>(
                      v, {{"targets", ListForm::relabelled}, {"discovered", ListForm::discovered}});
              }},
             {"--max-watches", "N", "readers of /v1/watch; further ones get 503 (default 1000)",
              [&](Text v) {
                  o.serve.watch_readers = support::number(v, 1U, 1'000'000U, "1 to 1000000");
              }},
             {"--heartbeat", "SECONDS",
              "how often a stream says that it is alive when nothing changes (default 15)",
              [&](Text v) { o.serve.heartbeat = support::seconds(v); }}}};
}

support::Section server_options(Options& o) {
    support::Section section = support::several_server_options(
        o.server, o.clusters,
        "a pod's own cluster; for a single job also $KUBECONFIG, ~/.kube/config");
    section.options.insert(section.options.begin(),
                           {"--sim", "",
                            "start a simulated cluster in this process, which changes every "
                            "second, and discover it",
                            support::flag(o.sim)});
    return section;
}

support::Section profile_options(Options& o) {
    return support::profile_options(
        o.profiles, o.clusters.profiles,
        "each ClusterProfile is a cluster, and its NAMESPACE/NAME a label of its targets; the "
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
    support::check(o.clusters);
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

support::CommandLine command_line(Options& o) {
    const support::Section single = single_job_options(o);
    std::vector<std::string> names;
    for (const support::Option& option : single.options) names.push_back(option.name);
    const auto prepare = [&o, names](const std::vector<support::GivenOption>& given) {
        // The dialect decides how roles are parsed, so set it first.
        for (const support::GivenOption& option : given) {
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
                         profile_options(o), support::credential_options(o.server),
                         serve_options(o), access_options(o), push_options(o),
                         support::warm_options(o.serve.warm_start), recording_options(o),
                         allocator_options(o.allocator)},
            .notes = "Exit status: 0 fine, 2 unusable arguments, an unusable folder, or a "
                     "configuration of which\nnothing can be used, 1 anything else. A mistake in "
                     "one job leaves that job out; only with\n--check and --strict the status is "
                     "2 then. SIGINT and SIGTERM end it with 0.\n",
            .prepare = prepare,
            .on_signal = support::CommandLine::OnSignal::end_or_reload,
            .checking_option = "--check",
            .print_error = support::error_writer("k8s-sd", o.log)};
}

k8s_sd::ScrapeConfigOptions scrape_config_options(const Options& o) {
    return {.dialect = o.dialect,
            .prometheus_version = o.prometheus_version,
            .strict = o.strict,
            .variables = support::process_variables()};
}

void check_lists_jobs(const k8s_sd::ScrapeConfigFile& file, const std::string& path) {
    if (file.lists_jobs) return;
    throw k8s_sd::ConfigError(path,
                              "lists no jobs; if there are to be none, write scrape_configs: []");
}

void check(const Options& o) {
    support::check(o.record);
    if (o.sim && support::names_server(o.server)) {
        throw UsageError("--sim: is a server of its own; name no other one");
    }
    check_clusters(o);
    if (o.single_job && !o.config_file.empty()) {
        throw UsageError("--config: the file says which jobs there are; give no options of a "
                         "single job");
    }
    if (o.allocator.collectors > 0 && !o.allocator.selector.empty()) {
        throw UsageError("--collectors: the pods of --collector-selector say how many there are");
    }
    if (o.allocator.allocation.allocation == Allocation::per_node && o.allocator.collectors > 0) {
        throw UsageError("--allocation: per-node needs --collector-selector, as only pods have "
                         "nodes");
    }
    if (o.tls.cert.empty() != o.tls.key.empty()) {
        throw UsageError("--tls-cert and --tls-key belong together");
    }
    if (!o.tls.client_ca.empty() && o.tls.cert.empty()) {
        throw UsageError("--tls-client-ca needs --tls-cert");
    }
    if (!o.tls.client_names.empty() && o.tls.client_ca.empty()) {
        throw UsageError("--tls-client-name needs --tls-client-ca");
    }
    if (o.access.require_client_cert && o.tls.client_ca.empty()) {
        throw UsageError("--tls-require-client-cert needs --tls-client-ca");
    }
    if (o.write_form && o.write_folder.empty()) {
        throw UsageError("--write-list: says what --write-dir writes; give that, too");
    }
    if (o.check && o.config_file.empty() && o.monitors.file.empty()) {
        throw UsageError("--check: says what is wrong with a file; give --config FILE, too");
    }
    if (!o.monitors.file.empty() && !o.monitors.owner.empty()) {
        throw UsageError("--monitors-owner: the file of --monitors-config says it already");
    }
    if (!o.monitors.enabled && o.monitors.room != k8s_sd::MonitorRoom()) {
        throw UsageError("--monitors-max-jobs and --monitors-max-bytes need --monitors");
    }
    if (o.single_job) check_single_job(o.discovery);
    if (o.sim || o.single_job || !o.config_file.empty() || o.monitors.enabled) return;
    throw UsageError("needs --config FILE, options of a single job such as --role pod, --monitors, "
                     "or --sim");
}

}  // namespace k8s_sd_program
