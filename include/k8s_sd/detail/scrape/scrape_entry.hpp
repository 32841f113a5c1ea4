#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The memory of a value, roughly.
inline std::size_t memory_of(const boost::json::value& value) {
    constexpr std::size_t per_value = 32;
    std::size_t bytes = per_value;
    if (const boost::json::string* text = value.if_string()) {
        bytes += text->size();
    } else if (const boost::json::array* list = value.if_array()) {
        for (const boost::json::value& item : *list) bytes += memory_of(item);
    } else if (const boost::json::object* object = value.if_object()) {
        for (const auto& [key, member] : *object) bytes += key.size() + memory_of(member);
    }
    return bytes;
}

/// A relabelling rule in JSON. Immutable: entries with equal rules share it.
struct RuleText {
    explicit RuleText(boost::json::value rule)
        : json(std::move(rule)),
          hash(std::hash<boost::json::value>()(json)),
          bytes(memory_of(json)) {}

    const boost::json::value json;
    const std::size_t hash;   ///< of `json`
    const std::size_t bytes;  ///< see memory_of()
};

using RuleTextPtr = std::shared_ptr<const RuleText>;  ///< never null
using RuleTexts = std::vector<RuleTextPtr>;           ///< a list of rules

/// The list in JSON.
inline boost::json::array to_json(const RuleTexts& rules) {
    boost::json::array list;
    list.reserve(rules.size());
    for (const RuleTextPtr& rule : rules) list.push_back(rule->json);
    return list;
}

/// An entry of `scrape_configs`. Rules apart from the other keys need no copies.
struct ScrapeEntry {
    static constexpr std::string_view targets_key = "relabel_configs";
    static constexpr std::string_view metrics_key = "metric_relabel_configs";

    boost::json::object keys{};          ///< null in place of the lists below
    RuleTexts relabel_configs{};         ///< empty: see `keys`
    RuleTexts metric_relabel_configs{};  ///< the same

    /// The entry as a whole, with the keys in their order.
    boost::json::object to_json() const {
        boost::json::object whole = keys;
        if (!relabel_configs.empty()) whole[targets_key] = detail::to_json(relabel_configs);
        if (!metric_relabel_configs.empty()) {
            whole[metrics_key] = detail::to_json(metric_relabel_configs);
        }
        return whole;
    }
};

}  // namespace k8s_sd::inline v0::detail
