#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

std::size_t text_bytes(const RelabelRule& rule) {
    std::size_t bytes = rule.separator.size() + rule.regex.size() + rule.target_label.size() +
                        rule.replacement.size();
    for (const auto* const texts : {&rule.source_labels, &rule.if_}) {
        for (const std::string& text : *texts) bytes += text.size() + sizeof text;
    }
    return bytes;
}

/// Other keys may have credentials.
bool is_plain_discovery(const boost::json::value& list) {
    constexpr std::array<std::string_view, 4> plain{"role", "namespaces", "selectors",
                                                    "attach_metadata"};
    if (!list.is_array()) return false;
    const auto is_plain = [&](const boost::json::value& entry) {
        return entry.is_object() &&
               std::all_of(entry.get_object().begin(), entry.get_object().end(),
                           [&](const auto& member) {
                               const std::string_view key = member.key();
                               return std::find(plain.begin(), plain.end(), key) != plain.end();
                           });
    };
    return std::all_of(list.get_array().begin(), list.get_array().end(), is_plain);
}

/// The same.
bool is_plain(std::string_view key, const boost::json::value& value) {
    constexpr std::array<std::string_view, 24> plain{"honor_labels",
                                                     "honor_timestamps",
                                                     "track_timestamps_staleness",
                                                     "scrape_interval",
                                                     "scrape_timeout",
                                                     "metrics_path",
                                                     "scheme",
                                                     "follow_redirects",
                                                     "enable_http2",
                                                     "enable_compression",
                                                     "sample_limit",
                                                     "target_limit",
                                                     "label_limit",
                                                     "label_name_length_limit",
                                                     "label_value_length_limit",
                                                     "keep_dropped_targets",
                                                     "body_size_limit",
                                                     "scrape_protocols",
                                                     "fallback_scrape_protocol",
                                                     "scrape_native_histograms",
                                                     "native_histogram_bucket_limit",
                                                     "native_histogram_min_bucket_factor",
                                                     "always_scrape_classic_histograms",
                                                     "convert_classic_histograms_to_nhcb"};
    if (key == "kubernetes_sd_configs") return is_plain_discovery(value);
    return std::find(plain.begin(), plain.end(), key) != plain.end();
}

bool is_common(std::string_view key) {
    return key != "job_name" && key != ScrapeEntry::targets_key &&
           key != ScrapeEntry::metrics_key && key != "params" && !is_of_client(key);
}

std::size_t hash_of_common(const boost::json::object& keys) {
    constexpr std::size_t factor = 1'099'511'628'211U;
    std::size_t hash = 0;
    for (const auto& member : keys) {
        if (!is_common(member.key())) continue;
        hash = (hash ^ std::hash<std::string_view>()(member.key())) * factor;
        hash = (hash ^ std::hash<boost::json::value>()(member.value())) * factor;
    }
    return hash;
}

/// Whether the common settings of the entry are these, in their order.
bool has_settings(const boost::json::object& keys, const boost::json::object& settings) {
    auto expected = settings.begin();
    for (const auto& member : keys) {
        if (!is_common(member.key())) continue;
        if (expected == settings.end() || expected->key() != member.key() ||
            expected->value() != member.value()) {
            return false;
        }
        ++expected;
    }
    return expected == settings.end();
}

bool read_text(const boost::json::value& value, std::string& text) {
    const boost::json::string* const read = value.if_string();
    if (read != nullptr) text.assign(read->data(), read->size());
    return read != nullptr;
}

bool read_texts(const boost::json::value& value, std::vector<std::string>& texts) {
    const boost::json::array* const items = value.if_array();
    return items != nullptr &&
           std::all_of(items->begin(), items->end(), [&](const boost::json::value& item) {
               return read_text(item, texts.emplace_back());
           });
}

bool read_action(const boost::json::value& value, RelabelAction& action) {
    std::string name;
    const auto known = read_text(value, name) ? action_from_string(name) : std::nullopt;
    action = known.value_or(action);
    return known.has_value();
}

bool read_number(const boost::json::value& value, std::uint64_t& number) {
    boost::system::error_code error;
    number = value.to_number<std::uint64_t>(error);
    return !error && !value.is_double();
}

/// \returns false for an unknown field, or one of another type
bool read_field(std::string_view key, const boost::json::value& value, RelabelRule& rule) {
    if (key == "action") return read_action(value, rule.action);
    if (key == "source_labels") return read_texts(value, rule.source_labels);
    if (key == "separator") return read_text(value, rule.separator);
    if (key == "regex") return read_text(value, rule.regex);
    if (key == "target_label") return read_text(value, rule.target_label);
    if (key == "replacement") return read_text(value, rule.replacement);
    return key == "modulus" && read_number(value, rule.modulus);
}

}  // namespace

bool is_of_client(std::string_view key) {
    return key != "follow_redirects" && key != "enable_http2" &&
           std::find(http_client_keys.begin(), http_client_keys.end(), key) !=
               http_client_keys.end();
}

boost::json::object common_settings(const boost::json::object& keys) {
    boost::json::object settings;
    for (const auto& member : keys) {
        if (is_common(member.key())) settings.emplace(member.key(), member.value());
    }
    return settings;
}

bool is_small(const SharedRule& rule) {
    constexpr std::size_t max_bytes = 1024;
    RelabelLimits limits;
    limits.instructions = 1024;
    return text_bytes(*rule.rule()) <= max_bytes && PatternBudget(limits).count(rule.patterns());
}

std::optional<RelabelRule> plain_rule(const boost::json::value& json) {
    const boost::json::object* const fields = json.if_object();
    if (fields == nullptr) return std::nullopt;
    RelabelRule rule;
    for (const auto& field : *fields) {
        if (!read_field(field.key(), field.value(), rule)) return std::nullopt;
    }
    // Not even the default value of the regex is permitted.
    if (refuses_regex(rule.action) && fields->contains("regex")) return std::nullopt;
    return rule;
}

SharedRulePtr KnownParts::rule(const RuleText& text, NameValidation names) {
    const Rule* const found = rules_.find(text.hash, [&](const Rule& rule) {
        const bool is_same = rule.text.get() == &text || rule.text->json == text.json;
        return is_same && rule.names == names;
    });
    return found ? found->compiled : nullptr;
}

void KnownParts::add(const RuleTextPtr& text, NameValidation names, const SharedRulePtr& compiled) {
    if (is_small(*compiled)) rules_.add(text->hash, {text, names, compiled});
}

const ScrapeJob* KnownParts::job(const boost::json::object& keys) {
    const Settings* const found = jobs_.find(hash_of_common(keys), [&](const Settings& known) {
        return has_settings(keys, known.text);
    });
    return found ? &found->job : nullptr;
}

void KnownParts::add(boost::json::object settings, ScrapeJob job) {
    const auto is_known_to_be_plain = [](const auto& member) {
        return is_common(member.key()) && is_plain(member.key(), member.value());
    };
    if (!std::all_of(settings.begin(), settings.end(), is_known_to_be_plain)) return;
    job.scrape.job_name.clear();
    job.discovery.name.clear();
    const std::size_t hash = hash_of_common(settings);
    jobs_.add(hash, {std::move(settings), std::move(job)});
}

}  // namespace k8s_sd::inline v0::detail
