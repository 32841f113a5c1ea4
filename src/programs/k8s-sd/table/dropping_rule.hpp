#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace k8s_sd_program {

/// Finds the rule dropping a target, for the cost of relabelling it once. Not thread-safe.
class DroppingRule {
 public:
    explicit DroppingRule(const k8s_sd::ScrapeConfig&);

    /// \param discovered  labels before the rules, with the job's defaults
    /// \returns the index of the rule; nullopt if none drops it
    std::optional<std::size_t> find(const k8s_sd::LabelMap& discovered);

 private:
    /// Rules up to one with a dropping action.
    struct Part {
        std::size_t last;
        k8s_sd::Relabeler rules;
    };

    std::vector<Part> parts_;
    k8s_sd::MutableLabels labels_;  // member only to reuse its memory
};

}  // namespace k8s_sd_program
