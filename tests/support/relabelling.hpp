#pragma once

#include "k8s_sd/relabel/relabeler.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

using Rules = std::vector<RelabelRule>;

inline void fill(MutableLabels& labels, const LabelMap& map) {
    labels.clear();
    for (const auto& [name, value] : map) labels.set(name, value);
}

/// The resulting labels; nullopt if the target is dropped. Checks that explain() has the same
/// result and consistent steps.
inline std::optional<LabelMap> relabel(const LabelMap& input, const Rules& rules,
                                       const RelabelOptions& options = {}) {
    const Relabeler relabeler(rules, options);
    MutableLabels labels;
    fill(labels, input);
    const bool kept = relabeler.apply(labels);
    auto result = kept ? std::optional(labels.to_map()) : std::nullopt;

    fill(labels, input);
    LabelMap replayed = labels.to_map();
    bool dropped = false;
    for (const RelabelStep& step : relabeler.explain(labels)) {
        CHECK_FALSE(dropped);
        CHECK(step.rule < rules.size());
        CHECK(step.reason != "");
        dropped = step.dropped;
        for (const auto& change : step.changes) {
            const auto found = replayed.find(change.label);
            CHECK(change.before == (found == replayed.end() ? "" : found->second));
            if (change.after.empty()) {
                replayed.erase(change.label);
            } else {
                replayed[change.label] = change.after;
            }
        }
    }
    CHECK(dropped == !kept);
    if (kept) {
        CHECK(replayed == *result);
        CHECK(labels.to_map() == *result);
    }
    return result;
}

/// The error of the rule, "" without one.
inline std::string rule_error(const RelabelRule& rule, const RelabelOptions& options = {}) {
    return config_error([&] { Relabeler({rule}, options); });
}

}  // namespace k8s_sd::test

template <>
struct Catch::StringMaker<std::optional<k8s_sd::LabelMap>> {
    static std::string convert(const std::optional<k8s_sd::LabelMap>& map) {
        return map ? Catch::StringMaker<k8s_sd::LabelMap>::convert(*map) : "dropped";
    }
};
