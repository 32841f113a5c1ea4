#pragma once

#include "k8s_sd/labels.hpp"

#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// The labels of a target; nullopt if it was dropped or is invalid, for example without an address.
using Target = std::optional<LabelMap>;

/// Prometheus' own program: `promtool check service-discovery`.
class Promtool {
 public:
    static bool is_installed();

    /// Relabels targets with the rules, a JSON list of `relabel_configs`, which must not change
    /// `__address__` but may delete it. Each label set has a unique address. nullopt: promtool
    /// refuses the rules. Thread-safe.
    static std::optional<std::vector<Target>> relabel(const std::string& rules,
                                                      const std::vector<LabelMap>& targets);
};

}  // namespace k8s_sd::test
