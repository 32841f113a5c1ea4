#include "jobs/job_yaml.hpp"

#include "jobs/prometheus_settings.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "table/rule_text.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd_program {

namespace {

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) (all += all.empty() ? "" : ", ") += text;
    return all;
}

std::string kubernetes(const k8s_sd::DiscoveryConfig& config) {
    std::string text = "- role: " + std::string(to_string(config.role)) + "\n";
    if (!config.cluster.name.empty()) {
        text += "  cluster: " + quoted(config.cluster.name) + "\n";
        if (config.cluster.label != k8s_sd::ClusterName{}.label)
            text += "  cluster_label: " + quoted(config.cluster.label) + "\n";
    }
    if (!config.namespaces.empty() || config.own_namespace) {
        text += "  namespaces:\n";
        if (config.own_namespace) text += "    own_namespace: true\n";
        if (!config.namespaces.empty()) text += "    names: " + quoted(config.namespaces) + "\n";
    }
    if (!config.selectors.empty()) text += "  selectors:\n";
    for (const k8s_sd::Selector& selector : config.selectors) {
        text += "  - role: " + std::string(to_string(selector.role)) + "\n";
        if (!selector.label.empty()) text += "    label: " + quoted(selector.label) + "\n";
        if (!selector.field.empty()) text += "    field: " + quoted(selector.field) + "\n";
    }
    return text;
}

std::string discovery(const k8s_sd::Job& job) {
    std::string text;
    const auto begin = [&](const auto& configs, const char* key) {
        if (!configs.empty()) text += std::string(key) + ":\n";
    };
    begin(job.configs, "kubernetes_sd_configs");
    for (const auto& config : job.configs) text += kubernetes(config);
    begin(job.static_configs, "static_configs");
    for (const auto& config : job.static_configs) {
        text += "- targets: " + quoted(config.targets) + "\n";
        if (config.labels.empty()) continue;
        text += "  labels:\n";
        for (const auto& [name, value] : config.labels) {
            text += "    " + quoted(name) + ": " + quoted(value) + "\n";
        }
    }
    begin(job.file_sd_configs, "file_sd_configs");
    for (const auto& config : job.file_sd_configs) {
        text += "- files: " + quoted(config.files) + "\n";
    }
    // The query may contain a token.
    begin(job.http_sd_configs, "http_sd_configs");
    for (const auto& config : job.http_sd_configs) {
        const bool query = config.url.find('?') != config.url.npos;
        text += "- url: " +
                quoted(config.url.substr(0, config.url.find('?')) + (query ? "?<hidden>" : "")) +
                "\n";
    }
    return text;
}

/// Hides the values of `params`: they can be credentials.
std::string scraping(const k8s_sd::ScrapeConfig& config) {
    std::string text = "job_name: " + quoted(config.job_name) + "\n";
    text += "scrape_interval: " + k8s_sd::format_duration(config.scrape_interval) + "\n";
    if (config.scrape_timeout) {
        text += "scrape_timeout: " + k8s_sd::format_duration(*config.scrape_timeout) + "\n";
    }
    text += "metrics_path: " + quoted(config.metrics_path) + "\n";
    text += "scheme: " + quoted(config.scheme) + "\n";
    if (!config.params.empty()) text += "params:\n";
    for (const auto& [name, values] : config.params) {
        text += "  " + quoted(name) + ": [\"<hidden>\"]\n";
    }
    return text;
}

/// The other keys, if they hold no secret; JSON is valid YAML.
std::string settings(const k8s_sd::ConfigValues& values) {
    std::string text;
    for (const auto& [key, value] : values) {
        if (is_prometheus_setting(key)) text += key + ": " + value.json + "\n";
    }
    return text;
}

std::string plural(k8s_sd::Role role) {
    const std::string name(to_string(role));
    if (role == k8s_sd::Role::endpoints) return name;
    return name + (name.ends_with('s') ? "es" : "s");
}

std::string namespaces_in_words(const k8s_sd::DiscoveryConfig& config) {
    if (config.role == k8s_sd::Role::node) return {};
    std::vector<std::string> names = config.namespaces;
    if (config.own_namespace) names.emplace_back("that of k8s-sd");
    const bool all =
        names.empty() || std::find(names.begin(), names.end(), std::string()) != names.end();
    if (all) return " in all namespaces";
    return (names.size() == 1 ? " in namespace " : " in namespaces ") + joined(names);
}

std::string in_words(const k8s_sd::DiscoveryConfig& config) {
    std::string text = plural(config.role) + namespaces_in_words(config);
    for (const k8s_sd::Selector& selector : config.selectors) {
        const std::string whose =
            selector.role == config.role ? " with" : " with " + plural(selector.role) + " with";
        if (!selector.label.empty()) text += whose + " labels " + selector.label;
        if (!selector.field.empty()) text += whose + " fields " + selector.field;
    }
    return text;
}

}  // namespace

std::string in_words(const k8s_sd::Job& job) {
    std::vector<std::string> parts;
    for (const auto& config : job.configs) parts.push_back(in_words(config));
    if (!job.static_configs.empty()) parts.emplace_back("targets of the configuration");
    for (const auto& config : job.file_sd_configs) {
        parts.push_back("files " + joined(config.files));
    }
    // The query may contain a token.
    for (const auto& config : job.http_sd_configs) {
        parts.push_back("the list of " + config.url.substr(0, config.url.find('?')));
    }
    return parts.empty() ? "nothing" : joined(parts);
}

std::string to_yaml(const k8s_sd::ScrapeJob& job) {
    std::string text = scraping(job.scrape) + settings(job.settings) + discovery(job.discovery);
    const auto rules = [&](const char* key, const k8s_sd::RelabelRules& of_key) {
        if (!of_key.empty()) text += std::string(key) + ":\n" + to_yaml(of_key);
    };
    rules("relabel_configs", job.scrape.relabel_configs);
    rules("metric_relabel_configs", job.scrape.metric_relabel_configs);
    return text;
}

}  // namespace k8s_sd_program
