#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What makes RE2 behave as Go's package regexp does.
namespace k8s_sd::inline v0::detail {

/// Rewrites a regular expression of Go for any version of RE2: `(?<name>` becomes `(?P<name>`.
/// \throws std::invalid_argument for what RE2 takes and Go does not: `\C`, and names of groups that
///         are not made of ASCII letters, digits and `_`
std::string translate_go_regex(std::string_view regex);

/// Whether vmagent takes a regular expression for `.*`: it may have anchors and parentheses around.
bool means_dot_star(std::string_view regex) noexcept;

/// A text as Go's regexp sees it: each byte that is not UTF-8 is a character U+FFFD.
class GoText {
 public:
    explicit GoText(std::string_view text);
    /// Valid UTF-8; the text itself if that is.
    std::string_view characters() const noexcept { return characters_; }
    /// The bytes of the text that a part of characters() stands for.
    std::string_view original(std::string_view part) const noexcept;

 private:
    std::string_view text_;
    std::string_view characters_;
    // Only for a text that is not UTF-8.
    std::string repaired_;
    std::vector<std::size_t> offsets_;  ///< in text_, of each byte of repaired_ and of the end
};

}  // namespace k8s_sd::inline v0::detail
