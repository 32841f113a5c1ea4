#include "options.hpp"

#include "cli/dialect_option.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "cli/warm_options.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <cstddef>

namespace scraper {

namespace {

using cli::flag;
using cli::UsageError;
using Text = const std::string&;

std::chrono::milliseconds duration(Text text) {
    return k8s_sd::parse_duration(text, k8s_sd::LabelDialect::victoriametrics);
}

/// "NUMBER/MEMBERS", e.g. "0/3".
void read_shard(Text text, k8s_sd::ShardingOptions& options) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) throw UsageError("must be MEMBER/MEMBERS, e.g. 0/3");
    options.member = k8s_sd::parse_shard_member(text.substr(0, slash));
    options.members = cli::count(text.substr(slash + 1));
}

cli::Section config_options(Options& o) {
    return {"Configuration",
            {{"--sim", "",
              "discover a simulated cluster in this process; its pods serve metrics on 127.0.0.1. "
              "For configurations without a server",
              flag(o.sim)},
             {"--config", "FILE",
              "a configuration file; read again when it changes and on SIGHUP. Default with "
              "--sim: a small built-in one",
              cli::text(o.config_file)},
             cli::Option{"--strict", "",
                         "refuse a file with ignored keys, or with a mistake in any job",
                         flag(o.strict)}
                 .with({"--config"}),
             cli::dialect_option("dialect of the file:", o.dialect, o.prometheus_version),
             cli::Option{"--check-interval", "DURATION",
                         "interval of checks for changes of the file (default 5s)",
                         [&](Text v) { o.check_interval = duration(v); }}
                 .with({"--config"})}};
}

cli::Section sharding_options(Options& o) {
    return {"Sharing of targets by vmagent's rule",
            {{"--shard", "MEMBER/MEMBERS",
              "scrape only the share of this member by vmagent's rule, e.g. 0/3 or agent-0/3",
              [&](Text v) { read_shard(v, o.sharding); }},
             cli::Option{"--replication", "N", "number of members for each target (default 1)",
                         [&](Text v) { o.sharding.replication_factor = cli::count(v); }}
                 .with({"--shard"})}};
}

/// The options common to all programs, and the scraper's own.
cli::Section snapshot_options(Options& o) {
    using enum Unconfirmed;
    const cli::Choices<Unconfirmed> choices{
        {"without-credentials", without_credentials}, {"off", off}, {"on", on}};
    cli::Section section = cli::warm_options(o.warm_start);
    cli::Option unconfirmed{
        "--scrape-unconfirmed", "HOW",
        "whether targets of a file are scraped before the API server has confirmed them: " +
            cli::either(cli::names_of(choices), "without-credentials") +
            "; another workload may own an address by now",
        cli::choice(o.unconfirmed, choices)};
    section.options.push_back(std::move(unconfirmed).with({"--snapshot-dir"}));
    return section;
}

cli::Section run_options(Options& o) {
    return {"Run",
            {{"--threads", "N", "number of threads for the jobs (default 1)",
              [&](Text v) { o.threads = cli::count(v); }},
             {"--report-interval", "DURATION", "interval of reports (default 5s; 0: never)",
              [&](Text v) { o.report_interval = duration(v); }},
             {"--scrapes", "N", "end after N scrapes", [&](Text v) { o.scrapes = cli::count(v); }},
             {"--timeout", "DURATION", "end after this time",
              [&](Text v) { o.duration = duration(v); }},
             {"--explain", "",
              "print the effect of the rules on each job's first target, and end; status 1 if the "
              "lists are incomplete after --timeout (default 10s)",
              flag(o.explain)}}};
}

}  // namespace

cli::CommandLine command_line(Options& options) {
    return {.program = "scraper",
            .about = "Discovers the targets of a Prometheus or vmagent configuration file "
                     "and scrapes them.\n\n"
                     "Try it without a cluster:  scraper --sim\n",
            .sections = {config_options(options),
                         cli::server_options(options.server,
                                             "configurations that name none run in a pod"),
                         cli::credential_options(options.server), cli::fleet_options(options.fleet),
                         cli::fleet_rule_options(options.fleet),
                         cli::fleet_division_options(options.fleet),
                         cli::agent_options(options.fleet), snapshot_options(options),
                         sharding_options(options), run_options(options)},
            .notes = "Exit status: 0 fine, 2 unusable arguments or configuration, 1 anything else. "
                     "SIGINT and\nSIGTERM end it with 0.\n",
            .on_signal = cli::CommandLine::OnSignal::end_or_reload};
}

void check(const Options& options) {
    if (options.threads == 0) throw UsageError("--threads: must be at least 1");
    cli::check(options.fleet);
    if (options.fleet.is_fleet() && options.sharding.members > 1) {
        throw UsageError("--shard: the fleet shares the targets; give one of them");
    }
    if (options.sim && cli::names_server(options.server)) {
        throw UsageError("--sim: simulates the server; leave out options of another one");
    }
    if (options.sim || !options.config_file.empty()) return;
    throw UsageError("needs --sim, --config FILE or both");
}

}  // namespace scraper
