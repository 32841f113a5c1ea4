#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Adapts RE2 to the behavior of Go's package regexp.
namespace k8s_sd::inline v0::detail {

/// Rewrites a Go regular expression for any version of RE2: `(?<name>` becomes `(?P<name>`.
/// \throws std::invalid_argument for syntax of RE2 missing in Go: `\C`, and group names with
///         characters other than ASCII letters, digits and `_`
std::string translate_go_regex(std::string_view regex);

/// Whether vmagent treats a regular expression like `.*`, perhaps with anchors and parentheses.
bool means_dot_star(std::string_view regex) noexcept;

/// A text as processed by Go's regexp: each invalid UTF-8 byte is a character U+FFFD.
class GoText {
 public:
    explicit GoText(std::string_view text);
    /// Valid UTF-8; the unmodified text if it is valid.
    std::string_view characters() const noexcept { return characters_; }
    /// The part of the original text for a part of characters().
    std::string_view original(std::string_view part) const noexcept;

 private:
    std::string_view text_;
    std::string_view characters_;
    // Only for invalid UTF-8.
    std::string repaired_;
    std::vector<std::size_t> offsets_;  ///< into text_, per byte of repaired_ and for its end
};

}  // namespace k8s_sd::inline v0::detail
