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

/// What nearly all patterns of relabelling rules are: alternatives of literal texts, or a literal
/// prefix with `.*` or `.+` behind it; perhaps with one group up to the end.
struct SimplePattern {
    enum class Tail { none, any, some };

    std::vector<std::string> literals;  ///< sorted; with a tail: one, the prefix
    Tail tail = Tail::none;
    std::optional<std::size_t> group;  ///< where the group begins

    /// nullopt: it is something else, or wrong.
    static std::optional<SimplePattern> parse(std::string_view regex);
    bool matches(std::string_view text) const noexcept;
};

/// A regular expression in Go's dialect (RE2's syntax, leftmost-first). Immutable, thread-safe.
class Pattern {
 public:
    enum class Anchors {
        both,  ///< matches whole texts and `.` matches line breaks: `^(?s:` regex `)$`, textually
        none,  ///< as it is
    };
    enum class Engine { fastest, re2 };  ///< re2: without the short cuts, for comparison

    /// \param max_bytes  see RelabelLimits::regex_bytes
    /// \throws std::invalid_argument what is wrong with the regular expression
    explicit Pattern(const std::string& regex, Anchors = Anchors::both, Engine = Engine::fastest,
                     std::size_t max_bytes = RelabelLimits().regex_bytes);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    bool matches(std::string_view text) const;
    /// Fills `groups`, beginning with the match itself; a group that took no part is empty
    /// and has no address.
    bool match(std::string_view text, std::span<std::string_view> groups) const;
    /// Appends the text to `result`, but for each match, from left to right, what `replace` appends
    /// for its groups instead, of which there are `group_count`. As Go's ReplaceAllString.
    using Replace = std::function<void(std::span<const std::string_view>, std::string& result)>;
    void replace_all(std::string_view text, std::size_t group_count, const Replace& replace,
                     std::string& result) const;

    /// Of the compiled program; 1: there is none, as the pattern is simple.
    std::size_t instructions() const noexcept { return instructions_; }
    /// Without the match itself.
    std::size_t group_count() const;
    /// Those of a name, ascending: several groups may have the same one.
    std::vector<std::size_t> groups(std::string_view name) const;

 private:
    bool search(std::string_view text, std::size_t begin, std::span<std::string_view> groups) const;

    std::optional<SimplePattern> simple_;
    std::unique_ptr<re2::RE2> regex_;  ///< null: simple_ is all there is
    std::size_t instructions_ = 1;
};

/// The pattern, compiled once for all who hold it at a time: a thousand jobs have the same twenty.
/// Thread-safe.
/// \throws std::invalid_argument as Pattern
std::shared_ptr<const Pattern> shared_pattern(const std::string& regex,
                                              Pattern::Anchors = Pattern::Anchors::both,
                                              std::size_t max_bytes = RelabelLimits().regex_bytes);

/// The regular expressions of some rules are larger than the limits.
class PatternsTooLarge : public std::length_error {
 public:
    using std::length_error::length_error;
};

/// Compiles patterns for as long as they are within the limits together. Keeps them: equal ones are
/// compiled and counted once. Not thread-safe.
class PatternBudget {
 public:
    explicit PatternBudget(const RelabelLimits& limits)
        : max_bytes_(limits.regex_bytes), max_(limits.instructions), left_(max_) {}

    /// \throws std::invalid_argument as shared_pattern()
    /// \throws PatternsTooLarge
    std::shared_ptr<const Pattern> pattern(const std::string& regex,
                                           Pattern::Anchors = Pattern::Anchors::both);

 private:
    void spend(std::size_t instructions);

    std::size_t max_bytes_;
    std::size_t max_;
    std::size_t left_;
    std::set<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace k8s_sd::inline v0::detail
