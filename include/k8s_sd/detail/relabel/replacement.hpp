#pragma once

#include "k8s_sd/relabel/mutable_labels.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class Pattern;
class RelabelBudget;

/// A template such as `${1}-$name`, compiled for a pattern with its groups, by Go's rules
/// (Regexp.Expand).
class Replacement {
 public:
    enum class References {
        none,
        labels,  ///< vmagent: `{{name}}` is the value of the label
    };
    Replacement() = default;
    Replacement(std::string_view text, const Pattern&, References = References::none);

    /// The number of groups expand() needs, including the match itself.
    std::size_t group_count() const noexcept { return group_count_; }
    /// The result may be a view of the template, a group or the labels. A composed text is counted.
    std::string_view expand(std::span<const std::string_view> groups, MutableLabels&,
                            RelabelBudget&) const;
    /// The caller counts the text; this only enforces the length limit.
    void append_to(std::string&, std::span<const std::string_view> groups, const MutableLabels&,
                   const RelabelBudget&) const;

 private:
    struct Part {
        enum class Kind { literal, group, label } kind;
        std::string text;                   ///< a literal, or a label name
        std::vector<std::size_t> groups{};  ///< candidates; the first matched one is used
    };

    void add_literal(std::string_view text);
    void add_groups(std::string_view text, const Pattern&);
    void add_group(std::string_view name, const Pattern&);
    static std::string_view value(const Part&, std::span<const std::string_view> groups,
                                  const MutableLabels&);

    std::vector<Part> parts_;
    std::size_t group_count_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
