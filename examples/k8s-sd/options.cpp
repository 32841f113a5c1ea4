#include "options.hpp"

#include "support/discovery_options.hpp"
#include "support/option_values.hpp"
#include "support/server_options.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace bridge {

namespace {

using support::UsageError;
using Text = const std::string&;

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
         {"--dialect", "DIALECT",
          "read it, and make labels, as " +
              support::either(support::names_of(support::dialects()), to_string(o.dialect)),
          support::choice(o.dialect, support::dialects())},
         {"--check-interval", "SECONDS", "how often to look for changes of the file (default 5)",
          [&](Text v) { o.check_interval = support::seconds(v); }}}};
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
    return {
        "Serve",
        {{"--listen", "ADDRESS:PORT", "where (default " + o.listen + "); port 0: a free one",
          [&](Text v) {
              support::listen_address(v);
              o.listen = v;
          }},
         {"--hold", "SECONDS",
          "how long a request waits for the first complete list of a job, before it gets 503 "
          "(default 20; less where the reader says that it does not wait so long)",
          [&](Text v) { o.serve.hold = support::seconds(v); }},
         {"--max-connections", "N", "further clients get 503 (default 10000)",
          [&](Text v) { o.http.connections = support::number(v, 1U, 1'000'000U, "1 to 1000000"); }},
         {"--max-selections", "N",
          "different shards and nodes that are asked for of a list within ten minutes; further "
          "ones get 503 (default 10000)",
          [&](Text v) {
              o.serve.lists.views = support::number(v, 1U, 1'000'000U, "1 to 1000000");
          }},
         {"--threads", "N", "threads that work on the jobs (default 1)",
          [&](Text v) { o.threads = support::number(v, 1U, 1024U, "1 to 1024"); }}}};
}

support::Section push_options(Options& o) {
    return {"Tell changes",
            {{"--write-dir", "DIR",
              "write the list of each job to DIR/JOB.json, for file_sd_configs, when it changes",
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
    support::Section section = support::server_options(
        o.server, "a pod's own cluster; for a single job also $KUBECONFIG, ~/.kube/config");
    section.options.insert(section.options.begin(),
                           {"--sim", "",
                            "start a simulated cluster in this process, which changes every "
                            "second, and discover it",
                            support::flag(o.sim)});
    return section;
}

}  // namespace

support::CommandLine command_line(Options& o) {
    const support::Section single = single_job_options(o);
    std::vector<std::string> names;
    for (const support::Option& option : single.options) names.push_back(option.name);
    const auto prepare = [&o, names](const std::vector<support::GivenOption>& given) {
        // The dialect decides how roles are read.
        for (const support::GivenOption& option : given) {
            if (option.option->name == "--dialect") option.set();
            o.single_job = o.single_job || std::find(names.begin(), names.end(),
                                                     option.option->name) != names.end();
        }
        o.discovery.dialect = o.dialect;
    };
    return {.program = "k8s-sd",
            .about = "Discovers the targets of a Kubernetes cluster, once for all agents, and "
                     "serves them over HTTP\nfor http_sd_configs of Prometheus, vmagent and "
                     "others.\n\n"
                     "Try it without a cluster:  k8s-sd --sim\n"
                     "Keep lists in files beside an agent:  k8s-sd follow --help\n",
            .sections = {config_options(o), single, server_options(o),
                         support::credential_options(o.server), serve_options(o), push_options(o)},
            .notes = "Exit status: 0 fine, 2 unusable arguments or configuration, 1 anything else. "
                     "SIGINT and\nSIGTERM end it with 0.\n",
            .prepare = prepare};
}

void check(const Options& o) {
    if (o.sim && support::names_server(o.server)) {
        throw UsageError("--sim: is a server of its own; name no other one");
    }
    if (o.single_job && !o.config_file.empty()) {
        throw UsageError("--config: the file says which jobs there are; give no options of a "
                         "single job");
    }
    if (o.write_form && o.write_folder.empty()) {
        throw UsageError("--write-list: says what --write-dir writes; give that, too");
    }
    if (o.sim || o.single_job || !o.config_file.empty()) return;
    throw UsageError("needs --config FILE, options of a single job such as --role pod, or --sim");
}

}  // namespace bridge
