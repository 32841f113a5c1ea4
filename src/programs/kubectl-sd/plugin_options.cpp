#include "plugin_options.hpp"

#include "cli/cluster_options.hpp"
#include "cli/dialect_option.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kubectl_sd {

namespace {

using cli::UsageError;
using Text = const std::string&;

const cli::Choices<Form>& forms() {
    static const cli::Choices<Form> choices{
        {"table", Form::table}, {"wide", Form::wide}, {"json", Form::json}, {"yaml", Form::yaml}};
    return choices;
}

cli::Section question_options(Question& q) {
    auto& o = q.discovery;
    return {
        "",
        {{"--config", "FILE", "the scrape_configs of a Prometheus or vmagent file",
          cli::text(o.config_file)},
         {"--configmap", "NAMESPACE/NAME[/KEY]",
          "the same in a ConfigMap of the cluster; KEY may be left out if it is the only one, or "
          "prometheus.yml",
          [&q](Text v) { q.config_map = read_config_map_key(v); }},
         {"--from", "URL",
          "ask a running k8s-sd, such as http://127.0.0.1:8080; --token-file, --ca-file, "
          "--client-cert and --client-key are for it then",
          [&q](Text v) { q.from = v; }},
         cli::dialect_option("dialect of the file and of labels:", o.dialect, o.prometheus_version),
         {"--namespace", "NAME", "-n: of the object, or of the targets (default: all)",
          cli::text(q.ns)},
         {"--output", "FORM", "-o: " + cli::either(cli::names_of(forms()), "table"),
          cli::choice(q.form, forms())},
         {"--timeout", "SECONDS", "how long to wait for all lists (default 30)",
          [&q](Text v) { q.timeout = cli::seconds(v); }},
         {"--sim", "", "discover a simulated cluster in this process", cli::flag(o.sim)}}};
}

/// A running k8s-sd has clusters and a dialect of its own. Its client knows four of the options for
/// servers.
void check_from(const std::vector<cli::GivenOption>& given) {
    const std::set<std::string> allowed{
        "--from",    "--config",     "--configmap", "--namespace",   "--output",
        "--timeout", "--token-file", "--ca-file",   "--client-cert", "--client-key"};
    const auto is_from = [](const auto& one) { return one.option->name == "--from"; };
    if (std::none_of(given.begin(), given.end(), is_from)) return;
    for (const cli::GivenOption& one : given) {
        if (allowed.contains(one.option->name)) continue;
        throw UsageError(
            "--from: the running k8s-sd has clusters and a dialect of its own; leave out " +
            one.option->name +
            "; of the options for servers and credentials it takes --token-file, --ca-file, "
            "--client-cert and --client-key only");
    }
}

cli::CommandLine command(Question& q, std::string name, std::string about) {
    return {.program = "kubectl-sd " + std::move(name),
            .about = std::move(about),
            .sections = {question_options(q),
                         cli::several_server_options(
                             q.discovery.server, q.discovery.clusters,
                             "as kubectl: $KUBECONFIG, ~/.kube/config, or the pod's own cluster"),
                         cli::credential_options(q.discovery.server)},
            .notes = "Exit status: 0 fine; 1 no such object, no answer of a cluster in time, or a "
                     "signal;\n2 unusable arguments or configuration.\n",
            .prepare = check_from,
            .on_signal = cli::CommandLine::OnSignal::fail};
}

/// With a port, or of IPv6, it has a colon, which no name has.
bool is_address(const std::string& text) {
    boost::system::error_code ec;
    boost::asio::ip::make_address(text, ec);
    return !ec || text.find(':') != std::string::npos;
}

}  // namespace

cli::CommandLine why_command(Question& q) {
    cli::CommandLine line = command(
        q, "why",
        "Says for each job of a configuration whether an object is a target, or which rule drops "
        "it.\n\n"
        "  kubectl sd why web-1 -n shop --config prometheus.yml\n"
        "  kubectl sd why service/web -n shop --config prometheus.yml -o wide\n");
    line.positional = {"OBJECT",
                       "a pod, service, ingress or node: web-1, pod/web-1, pod/shop/web-1; or an "
                       "address",
                       [&q](Text v) { q.words.push_back(v); }, true};
    return line;
}

cli::CommandLine targets_command(Question& q) {
    cli::CommandLine line =
        command(q, "targets",
                "Lists the targets of a configuration, and those that rules drop.\n\n"
                "  kubectl sd targets --config prometheus.yml -n shop\n");
    line.positional = {"JOB", "only of these jobs (default: of all)",
                       [&q](Text v) { q.words.push_back(v); }, true};
    return line;
}

std::string object_name(const Question& q) {
    if (q.words.empty() || q.words.size() > 2) {
        throw UsageError("needs one object, such as web-1 or pod/web-1");
    }
    std::string name = q.words.front();
    if (q.words.size() == 2) name += "/" + q.words.back();
    const auto slashes = std::count(name.begin(), name.end(), '/');
    const bool has_namespace = slashes > 1 || name.starts_with(q.ns + "/");
    if (q.ns.empty() || has_namespace || is_address(name)) return name;
    // Nodes have no namespace.
    for (const char* kind : {"node/", "nodes/", "no/"}) {
        if (name.starts_with(kind)) return name;
    }
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return q.ns + "/" + name;
    return name.substr(0, slash) + "/" + q.ns + name.substr(slash);
}

void check_origin(const Question& q) {
    const int origins = int(!q.discovery.config_file.empty()) + int(!q.config_map.name.empty()) +
                        int(!q.from.empty());
    if (origins == 1) return;
    if (origins > 1) {
        throw UsageError("--config, --configmap and --from: only one of them can be given");
    }
    throw UsageError("--config FILE is missing; or give --configmap NAMESPACE/NAME or --from URL");
}

std::vector<std::string> long_options(const std::vector<std::string>& arguments) {
    std::vector<std::string> result;
    for (const std::string& argument : arguments) {
        const bool is_namespace = argument.starts_with("-n");
        if (!is_namespace && !argument.starts_with("-o")) {
            result.push_back(argument);
            continue;
        }
        // "-o wide", "-owide" and "-o=wide" are the same.
        std::string value = argument.substr(2);
        if (value.starts_with('=')) value.erase(0, 1);
        result.emplace_back(is_namespace ? "--namespace" : "--output");
        if (!value.empty()) result.push_back(std::move(value));
    }
    return result;
}

}  // namespace kubectl_sd
