#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace k8s_sd::inline v0::detail {

/// The common forms of patterns in relabelling rules: alternatives of literals, perhaps in a group
/// with a literal behind it, as in `(a|b);true`; or `.*` or `.+` between two literals, perhaps in a
/// group, as in `(.+);`.
struct SimplePattern {
    enum class Tail { none, any, some };

    std::vector<std::string> literals;  ///< sorted, whole; with a tail: one, the prefix
    Tail tail = Tail::none;
    std::string suffix{};              ///< with a tail: the literal behind it
    std::optional<std::size_t> group;  ///< start of the group
    std::size_t behind = 0;            ///< size of the literal behind the group

    /// \returns nullopt for other or invalid expressions
    static std::optional<SimplePattern> parse(std::string_view regex);
    bool matches(std::string_view text) const noexcept;
};

/// A regular expression in Go's dialect (RE2's syntax, leftmost-first). Immutable, thread-safe.
class Pattern {
 public:
    enum class Anchors {
        both,  ///< matches whole texts and `.` matches line breaks: textually `^(?s:` regex `)$`
        none,  ///< unchanged
    };
    enum class Engine { fastest, re2 };  ///< re2: without the fast paths, for comparison

    /// \param max_bytes  see RelabelLimits::regex_bytes
    /// \throws std::invalid_argument with the error in the regular expression
    explicit Pattern(const std::string& regex, Anchors = Anchors::both, Engine = Engine::fastest,
                     std::size_t max_bytes = RelabelLimits().regex_bytes);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    bool matches(std::string_view text) const;
    /// Fills `groups`, starting with the match itself; an unmatched group is empty with a null
    /// address.
    bool match(std::string_view text, std::span<std::string_view> groups) const;
    /// Appends the text to `result`, with each match from left to right replaced by the output of
    /// `replace` for its `group_count` groups, like Go's ReplaceAllString.
    using Replace = std::function<void(std::span<const std::string_view>, std::string& result)>;
    void replace_all(std::string_view text, std::size_t group_count, const Replace& replace,
                     std::string& result) const;

    /// Size of the compiled program; 1 for a simple pattern without one.
    std::size_t instructions() const noexcept { return instructions_; }
    /// Not counting the match itself.
    std::size_t group_count() const;
    /// The groups with this name in ascending order; names may repeat.
    std::vector<std::size_t> groups(std::string_view name) const;

 private:
    bool search(std::string_view text, std::size_t begin, std::span<std::string_view> groups) const;

    std::optional<SimplePattern> simple_;
    /// The first one of several alternatives, if it is a literal: of `0;|.+;.+` it is `0;`.
    std::optional<std::string> first_;
    std::unique_ptr<re2::RE2> regex_;  ///< null: simple_ suffices
    std::size_t instructions_ = 1;
};

/// Compiles the pattern once for all concurrent users: a thousand jobs share the same twenty
/// patterns. Thread-safe.
/// \throws std::invalid_argument like Pattern
std::shared_ptr<const Pattern> shared_pattern(const std::string& regex,
                                              Pattern::Anchors = Pattern::Anchors::both,
                                              std::size_t max_bytes = RelabelLimits().regex_bytes);

/// The regular expressions of a rule list exceed the limits.
class PatternsTooLarge : public std::length_error {
 public:
    using std::length_error::length_error;
};

/// A pattern of a rule, and the size of its text.
struct UsedPattern {
    std::size_t text_bytes = 0;
    std::shared_ptr<const Pattern> pattern{};
};

/// Compiles patterns while their total is within the limits. Equal patterns are compiled and
/// counted once. Not thread-safe.
class PatternBudget {
 public:
    explicit PatternBudget(const RelabelLimits& limits)
        : max_bytes_(limits.regex_bytes), max_(limits.instructions), left_(max_) {}

    /// \throws std::invalid_argument like shared_pattern()
    /// \throws PatternsTooLarge
    std::shared_ptr<const Pattern> pattern(const std::string& regex,
                                           Pattern::Anchors = Pattern::Anchors::both);
    /// Counts patterns that are compiled already, as pattern() does.
    /// \returns false if they exceed the limit; then none is counted
    bool count(const std::vector<UsedPattern>&);
    /// The patterns from now on are added to this list; null: to none.
    void record(std::vector<UsedPattern>* used) noexcept { used_ = used; }
    /// See RelabelLimits::regex_bytes.
    std::size_t max_bytes() const noexcept { return max_bytes_; }
    /// So far.
    std::size_t spent() const noexcept { return max_ - left_; }

 private:
    static std::size_t cost_of(const UsedPattern&) noexcept;
    void spend(std::size_t instructions);

    std::size_t max_bytes_;
    std::size_t max_;
    std::size_t left_;
    std::set<std::shared_ptr<const Pattern>> patterns_;
    std::vector<UsedPattern>* used_ = nullptr;
};

}  // namespace k8s_sd::inline v0::detail
