#include "k8s_sd/detail/scrape/known_parts.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_known_rules = 512;
// Of one rule.
constexpr std::size_t max_rule_bytes = 1024;
constexpr std::size_t max_instructions = 1024;

std::size_t hash_of_text(const boost::json::value& text) {
    return std::hash<boost::json::value>()(text);
}

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

}  // namespace

const KnownParts::Rule* KnownParts::rule(const boost::json::value& text,
                                         NameValidation names) const {
    const auto found = rules_.find(hash_of_text(text));
    if (found == rules_.end()) return nullptr;
    const Rule& rule = found->second;
    return rule.names == names && rule.text == text ? &rule : nullptr;
}

void KnownParts::add(Rule rule) {
    RelabelLimits limits;
    limits.instructions = max_instructions;
    const bool is_small = text_bytes(*rule.compiled->rule()) <= max_rule_bytes &&
                          PatternBudget(limits).count(rule.compiled->patterns());
    if (!is_small) return;
    if (rules_.size() >= max_known_rules) rules_.clear();
    const std::size_t hash = hash_of_text(rule.text);
    rules_.insert_or_assign(hash, std::move(rule));
}

const std::vector<DiscoveryConfig>* KnownParts::discovery(const boost::json::value& text) const {
    return !discovery_.empty() && discovery_text_ == text ? &discovery_ : nullptr;
}

void KnownParts::add(const boost::json::value& text, const std::vector<DiscoveryConfig>& configs) {
    if (!is_plain_discovery(text)) return;
    discovery_text_ = text;
    discovery_ = configs;
}

}  // namespace k8s_sd::inline v0::detail
