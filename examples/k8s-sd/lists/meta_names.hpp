#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Names of labels of discovery begin with it.
inline constexpr std::string_view meta_prefix = "__meta_";

/// Names of labels of discovery (`__meta_*`), as a reader gives them: 64 in 2048
/// bytes at most.
class MetaNames {
 public:
    MetaNames() = default;  ///< none are given
    /// \param text  names separated by commas, in each one `*` at most, which stands for any
    ///              characters; or `otel`: those that OpenTelemetry's receiver makes resource
    ///              attributes of
    /// \throws support::UsageError
    explicit MetaNames(std::string_view text);

    bool empty() const noexcept { return patterns_.empty(); }
    bool match(std::string_view name) const;
    /// As text that gives the same names, the same for all texts that give the same patterns.
    std::string text() const;
    auto operator<=>(const MetaNames&) const = default;

 private:
    friend class UnusedNames;

    std::vector<std::string> patterns_;  ///< sorted, each once
};

/// Names of a choice that no label has had so far: perhaps they are misspelt.
class UnusedNames {
 public:
    UnusedNames() = default;
    /// None of `otel`, which is not for one role alone.
    explicit UnusedNames(const MetaNames&);

    bool empty() const noexcept { return patterns_.empty(); }
    /// There is a label of this name.
    void saw(std::string_view name);
    /// Separated by commas.
    std::string text() const;

 private:
    std::vector<std::string> patterns_;
};

}  // namespace bridge
