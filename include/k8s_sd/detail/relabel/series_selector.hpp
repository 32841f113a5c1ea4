#pragma once

#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_budget.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A PromQL series selector with vmagent's `or`: `name{a="x",b!~"y|z" or c="w"}`. An absent label
/// has the value "". `{}` matches nothing, as in vmagent. Immutable, thread-safe.
class SeriesSelector {
 public:
    enum class Operator { equal, not_equal, matches, does_not_match };
    struct Condition {
        std::string label;
        Operator op = Operator::equal;
        std::string value;
        std::shared_ptr<const Pattern> pattern{};  ///< for the matching operators
    };
    /// All of these must hold.
    using Conditions = std::vector<Condition>;

    /// \throws std::invalid_argument with the position and the error
    /// \throws PatternsTooLarge
    SeriesSelector(std::string_view text, PatternBudget&);
    /// \throws RelabelLimitReached
    bool matches(const MutableLabels&, RelabelBudget&) const;

 private:
    std::vector<Conditions> alternatives_;
};

}  // namespace k8s_sd::inline v0::detail
