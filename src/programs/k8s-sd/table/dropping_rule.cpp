#include "table/dropping_rule.hpp"

#include <utility>

namespace k8s_sd_program {

namespace {

bool can_drop(k8s_sd::RelabelAction action) {
    using enum k8s_sd::RelabelAction;
    switch (action) {
        case keep:
        case drop:
        case keepequal:
        case dropequal:
        case keep_if_equal:
        case drop_if_equal:
        case keep_if_contains:
        case drop_if_contains: return true;
        default: return false;
    }
}

}  // namespace

DroppingRule::DroppingRule(const k8s_sd::ScrapeConfig& config) {
    std::vector<k8s_sd::RelabelRule> rules;
    for (std::size_t i = 0; i < config.relabel_configs.size(); ++i) {
        rules.push_back(config.relabel_configs[i]);
        if (!can_drop(rules.back().action)) continue;
        parts_.push_back({i, k8s_sd::Relabeler(std::exchange(rules, {}), relabel_options(config))});
    }
}

std::optional<std::size_t> DroppingRule::find(const k8s_sd::LabelMap& discovered) {
    for (const auto& [name, value] : discovered) labels_.append(name, value);
    std::optional<std::size_t> rule;
    for (const Part& part : parts_) {
        if (part.rules.apply(labels_)) continue;
        rule = part.last;
        break;
    }
    labels_.clear();
    return rule;
}

}  // namespace k8s_sd_program
