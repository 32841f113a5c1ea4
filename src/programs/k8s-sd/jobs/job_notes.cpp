#include "jobs/job_notes.hpp"

#include "cli/option_values.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "lists/listed_target.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace k8s_sd_program {

namespace {

using k8s_sd::ScrapeConfig;
using k8s_sd::ScrapeJob;

/// Unexpanded, the regex matches nothing.
bool is_share_rule(const k8s_sd::RelabelRule& rule) {
    return rule.action == k8s_sd::RelabelAction::keep &&
           rule.regex.find("$(SHARD)") != rule.regex.npos;
}

/// A name with a `$` is only known when the rule is applied.
bool makes_unlisted_label(const ScrapeConfig& config, const k8s_sd::RelabelRule& rule) {
    return !rule.target_label.empty() && rule.target_label.find('$') == std::string::npos &&
           !is_listed_name(config, rule.target_label);
}

/// The labels that agents add to a target without them, of those that the rule removes.
/// None if lists can have an empty label instead.
std::vector<std::string_view> removed_defaults(const ScrapeConfig& config,
                                               const k8s_sd::RelabelRule& rule) {
    if (k8s_sd::detail::rules_of(config.dialect).keeps_empty_labels) return {};
    constexpr std::array<std::string_view, 3> defaults{"__metrics_path__", "__scheme__", "job"};
    std::vector<std::string_view> removed;
    using enum k8s_sd::RelabelAction;
    if (rule.action == replace && rule.replacement.empty()) {
        std::copy_if(defaults.begin(), defaults.end(), std::back_inserter(removed),
                     [&](std::string_view name) { return name == rule.target_label; });
    }
    if (rule.action != labeldrop && rule.action != labelkeep) return removed;
    k8s_sd::MutableLabels labels;
    for (const std::string_view name : defaults) labels.set(name, "x");
    k8s_sd::Relabeler({rule}, relabel_options(config)).apply(labels);
    std::copy_if(defaults.begin(), defaults.end(), std::back_inserter(removed),
                 [&](std::string_view name) { return labels.get(name).empty(); });
    return removed;
}

class Keys {
 public:
    void add(std::string_view key, bool is_there) {
        if (is_there) keys_.push_back(key);
    }
    std::vector<std::string_view> sorted() && {
        std::sort(keys_.begin(), keys_.end());
        return std::move(keys_);
    }

 private:
    std::vector<std::string_view> keys_;
};

void add_client(Keys& keys, const k8s_sd::ScrapeClient& client) {
    const k8s_sd::AuthConfig& auth = client.auth;
    keys.add("authorization", !auth.bearer_token.empty() || !auth.bearer_token_file.empty());
    keys.add("basic_auth", !auth.username.empty() || !auth.username_file.empty());
    keys.add("oauth2", auth.oauth2.has_value());
    keys.add("tls_config", client.tls != k8s_sd::TlsConfig{});
    keys.add("proxy_url", client.proxy != k8s_sd::ProxyConfig{});
    keys.add("http_headers", !client.headers.empty());
    keys.add("follow_redirects", !client.follow_redirects);
    keys.add("enable_http2", !client.enable_http2);
}

void add_scraping(Keys& keys, const ScrapeConfig& config) {
    const auto several = [](const auto& param) { return param.second.size() > 1; };
    keys.add("params", std::any_of(config.params.begin(), config.params.end(), several));
    keys.add("metric_relabel_configs", !config.metric_relabel_configs.empty());
    keys.add("target_limit", config.target_limit != 0);
}

/// Keys with scrape options; lists do not contain these.
std::vector<std::string_view> keys_of_agents(const ScrapeJob& job) {
    Keys keys;
    add_client(keys, *job.client);
    add_scraping(keys, job.scrape);
    for (const auto& [key, value] : job.settings) keys.add(key, !key.ends_with("_sd_configs"));
    return std::move(keys).sorted();
}

void add_notes(std::vector<std::string>& notes, const ScrapeJob& job) {
    const auto note = [&](const std::string& text) {
        notes.push_back("job " + job.scrape.job_name + ": " + text);
    };
    const std::vector<std::string_view> keys = keys_of_agents(job);
    if (!keys.empty()) note("left to its agents, no list has it: " + cli::listed(keys));
    for (const k8s_sd::RelabelRule& rule : job.scrape.relabel_configs) {
        if (is_share_rule(rule)) {
            note(
                "lists leave out the rule keep $(SHARD), which is for agents; a shard asks for its "
                "part with shard= and shards=");
        }
        const auto removed = removed_defaults(job.scrape, rule);
        if (!removed.empty()) {
            note("a rule removes " + cli::listed(removed) +
                 ", and agents of a relabelled list fill it in again from their job");
        }
        if (makes_unlisted_label(job.scrape, rule)) {
            note("with metric_name_validation_scheme: legacy lists leave out the label " +
                 rule.target_label);
        }
    }
}

}  // namespace

ScrapeConfig without_share_rules(ScrapeConfig config) {
    config.relabel_configs.erase_if(is_share_rule);
    return config;
}

std::vector<std::string> notes_of(const k8s_sd::ScrapeConfigFile& file) {
    std::vector<std::string> notes;
    for (const k8s_sd::ConfigNote& note : file.notes) {
        using enum k8s_sd::ConfigNoteKind;
        if (note.kind == targets || note.kind == unknown) {
            notes.push_back(note.where + ": " + note.text);
        }
    }
    for (const ScrapeJob& job : file.jobs) add_notes(notes, job);
    return notes;
}

}  // namespace k8s_sd_program
