#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The prefix of discovery labels.
inline constexpr std::string_view meta_prefix = "__meta_";

/// Names of discovery labels (`__meta_*`) selected by a reader: at most 64 in 2048 bytes.
class MetaNames {
 public:
    MetaNames() = default;  ///< no names
    /// \param text  names separated by commas, each with at most one `*` for any characters; or
    ///              `otel`: the names used by OpenTelemetry's receiver for resource attributes
    /// \throws cli::UsageError
    explicit MetaNames(std::string_view text);

    bool empty() const noexcept { return patterns_.empty(); }
    bool match(std::string_view name) const;
    /// A canonical text: equal patterns have the same text, and it parses to the same names.
    std::string text() const;
    auto operator<=>(const MetaNames&) const = default;

 private:
    friend class UnusedNames;

    std::vector<std::string> patterns_;  ///< sorted and unique
};

/// Names of a choice without a matching label so far: they may be misspelt.
class UnusedNames {
 public:
    UnusedNames() = default;
    /// Ignores the names of `otel`, because no role has all of them.
    explicit UnusedNames(const MetaNames&);

    bool empty() const noexcept { return patterns_.empty(); }
    /// A label of this name exists.
    void saw(std::string_view name);
    /// The names, separated by commas.
    std::string text() const;

 private:
    std::vector<std::string> patterns_;
};

}  // namespace k8s_sd_program
