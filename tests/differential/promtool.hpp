#pragma once

#include "k8s_sd/labels.hpp"

#include <boost/json/array.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// The labels of a target; nullopt if it was dropped or is invalid, for example without an address.
using Target = std::optional<LabelMap>;

/// Prometheus' own program. Thread-safe.
class Promtool {
 public:
    static bool is_installed();
    /// Why a test without promtool is skipped.
    static constexpr const char* missing =
        "promtool is not installed (Debian's package prometheus)";

    /// Whether it accepts the text of a configuration file; reads none of the files in it.
    static bool accepts(const std::string& file);
    /// The targets of a job with `static_configs`, in any order: {"discoveredLabels", "labels"}.
    /// nullopt: promtool refuses the file.
    /// \param count  of these targets
    static std::optional<boost::json::array> targets(const std::string& file,
                                                     const std::string& job, std::size_t count);

    /// Relabels targets with the rules, a JSON list of `relabel_configs`, which must not change
    /// `__address__` but may delete it. Each label set has a unique address. nullopt: promtool
    /// refuses the rules.
    static std::optional<std::vector<Target>> relabel(const std::string& rules,
                                                      const std::vector<LabelMap>& targets);
};

}  // namespace k8s_sd::test
