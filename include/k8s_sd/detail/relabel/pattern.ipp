#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/go_regex.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <re2/re2.h>
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

// Simple patterns.

namespace {

/// Printable ASCII without special meaning. Other characters are left to RE2: U+FFFD also matches
/// invalid bytes.
constexpr bool is_literal(char c) {
    return c >= ' ' && c <= '~' &&
           std::string_view("\\.+*?()|[]{}^$").find(c) == std::string_view::npos;
}

/// Removes one literal character, perhaps escaped punctuation, from the front.
std::optional<char> take_literal(std::string_view& regex) {
    if (regex.empty()) return std::nullopt;
    const bool escaped =
        regex[0] == '\\' && regex.size() > 1 &&
        std::string_view("\\.+*?()|[]{}^$-/:_").find(regex[1]) != std::string_view::npos;
    if (!escaped && !is_literal(regex[0])) return std::nullopt;
    const char c = regex[escaped ? 1 : 0];
    regex.remove_prefix(escaped ? 2 : 1);
    return c;
}

std::string take_literals(std::string_view& regex) {
    std::string text;
    while (const std::optional<char> c = take_literal(regex)) text += *c;
    return text;
}

bool take(std::string_view& regex, std::string_view prefix) {
    if (!regex.starts_with(prefix)) return false;
    regex.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::optional<SimplePattern> SimplePattern::parse(std::string_view regex) {
    // Redundant, because the pattern is anchored. (After an escaped one, a backslash remains, and
    // the pattern is not simple.)
    take(regex, "^");
    if (regex.ends_with('$')) regex.remove_suffix(1);

    SimplePattern result;
    bool open = false;
    const auto take_group = [&](std::size_t position) {
        if (open || take(regex, "(?:")) {
            open = true;
        } else if (take(regex, "(")) {
            open = true;
            result.group = position;
        }
    };
    take_group(0);
    result.literals.push_back(take_literals(regex));
    while (take(regex, "|")) result.literals.push_back(take_literals(regex));
    if (result.literals.size() == 1) {
        take_group(result.literals[0].size());
        if (take(regex, ".*")) {
            result.tail = Tail::any;
        } else if (take(regex, ".+")) {
            result.tail = Tail::some;
        }
    }
    if (result.tail != Tail::none) result.suffix = take_literals(regex);
    if (open && !take(regex, ")")) return std::nullopt;
    if (open) {
        const std::string behind = take_literals(regex);
        result.behind = behind.size();
        if (result.tail == Tail::none) {
            for (std::string& literal : result.literals) literal += behind;
        } else {
            result.suffix += behind;
        }
    }
    // Further quantifiers, groups, or alternatives outside the group.
    if (!regex.empty()) return std::nullopt;
    std::sort(result.literals.begin(), result.literals.end());
    return result;
}

bool SimplePattern::matches(std::string_view text) const noexcept {
    if (tail != Tail::none) {
        const std::string& prefix = literals.front();
        const std::size_t min_size = prefix.size() + suffix.size() + (tail == Tail::some ? 1 : 0);
        if (text.size() < min_size) return false;
        return (prefix.empty() || text.starts_with(prefix)) &&
               (suffix.empty() || text.ends_with(suffix));
    }
    if (literals.size() == 1) return text == literals.front();
    return std::binary_search(literals.begin(), literals.end(), text);
}

// All patterns.

namespace {

std::string anchored(const std::string& regex) { return "^(?s:" + regex + ")$"; }

/// RE2's error without the text added around the regular expression.
std::string problem_of(const re2::RE2& regex) {
    const std::string& error = regex.error();
    const std::string& argument = regex.error_arg();
    const bool of_the_whole = argument == regex.pattern() && error.ends_with(argument);
    if (!of_the_whole) return error;
    return error.substr(0, error.size() - argument.size() - std::string_view(": ").size());
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(const std::string& regex, Anchors anchors, Engine engine, std::size_t max_bytes) {
    if (anchors == Anchors::both && engine == Engine::fastest) {
        simple_ = SimplePattern::parse(regex);
        if (simple_) return;
        std::string_view rest = regex;
        std::string first = take_literals(rest);
        if (rest.starts_with('|')) first_ = std::move(first);
    }
    const std::string translated = translate_go_regex(regex);
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(static_cast<std::int64_t>(max_bytes));
    regex_ = std::make_unique<re2::RE2>(
        anchors == Anchors::both ? anchored(translated) : translated, options);
    if (!regex_->ok()) throw std::invalid_argument(problem_of(*regex_));
    instructions_ = static_cast<std::size_t>(regex_->ProgramSize());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

bool Pattern::search(std::string_view text, std::size_t begin,
                     std::span<std::string_view> groups) const {
    boost::container::small_vector<re2::StringPiece, 8> pieces(groups.size());
    if (!regex_->Match(piece(text), begin, text.size(), re2::RE2::UNANCHORED, pieces.data(),
                       static_cast<int>(pieces.size()))) {
        return false;
    }
    std::transform(pieces.begin(), pieces.end(), groups.begin(),
                   [](const re2::StringPiece& p) { return std::string_view(p.data(), p.size()); });
    return true;
}

bool Pattern::matches(std::string_view text) const { return match(text, {}); }

bool Pattern::match(std::string_view text, std::span<std::string_view> groups) const {
    if (simple_) {
        if (!simple_->matches(text)) return false;
        std::fill(groups.begin(), groups.end(), std::string_view());
        if (!groups.empty()) groups[0] = text;
        if (groups.size() > 1 && simple_->group) {
            groups[1] = text.substr(*simple_->group);
            groups[1].remove_suffix(simple_->behind);
        }
        return true;
    }
    if (first_ && text == *first_) {
        std::fill(groups.begin(), groups.end(), std::string_view());
        if (!groups.empty()) groups[0] = text;
        return true;
    }
    const GoText subject(text);
    if (!search(subject.characters(), 0, groups)) return false;
    for (std::string_view& group : groups) group = subject.original(group);
    return true;
}

void Pattern::replace_all(std::string_view text, std::size_t group_count, const Replace& replace,
                          std::string& result) const {
    boost::container::small_vector<std::string_view, 8> groups(
        std::max<std::size_t>(group_count, 1));
    const std::span<std::string_view> all(groups.data(), groups.size());
    if (simple_) {
        if (match(text, all)) return replace(all, result);
        result += text;
        return;
    }
    const GoText subject(text);
    const std::string_view characters = subject.characters();
    std::size_t copied = 0;  // end of the copied part
    std::size_t position = 0;
    while (position <= characters.size() && search(characters, position, all)) {
        const auto begin = static_cast<std::size_t>(groups[0].data() - characters.data());
        const std::size_t end = begin + groups[0].size();
        result += subject.original(characters.substr(copied, begin - copied));
        // Skip an empty match right after another match.
        if (end > copied || begin == 0) {
            for (std::string_view& group : groups) group = subject.original(group);
            replace(all, result);
        }
        copied = end;
        // Continue after the match, and by one character at least.
        const std::size_t width = utf8_length(characters.substr(position));
        position = std::max(end, position + std::max<std::size_t>(width, 1));
    }
    result += subject.original(characters.substr(copied));
}

std::size_t Pattern::group_count() const {
    if (simple_) return simple_->group ? 1 : 0;
    return static_cast<std::size_t>(regex_->NumberOfCapturingGroups());
}

std::vector<std::size_t> Pattern::groups(std::string_view name) const {
    std::vector<std::size_t> result;
    if (simple_) return result;
    for (const auto& [index, its_name] : regex_->CapturingGroupNames()) {
        if (its_name == name) result.push_back(static_cast<std::size_t>(index));
    }
    return result;
}

// Shared patterns.

namespace {

/// Contains the patterns in use, and expired entries until the next cleanup.
class PatternTable {
 public:
    std::shared_ptr<const Pattern> find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        const auto found = patterns_.find(key);
        return found == patterns_.end() ? nullptr : found->second.lock();
    }

    /// \returns the pattern in the table, perhaps added by another thread meanwhile
    std::shared_ptr<const Pattern> add(const std::string& key,
                                       std::shared_ptr<const Pattern> pattern) {
        const std::lock_guard lock(mutex_);
        std::weak_ptr<const Pattern>& place = patterns_[key];
        if (std::shared_ptr<const Pattern> other = place.lock()) return other;
        place = pattern;
        if (patterns_.size() >= next_sweep_) sweep();
        return pattern;
    }

 private:
    void sweep() {
        boost::unordered::erase_if(patterns_, [](const auto& p) { return p.second.expired(); });
        patterns_.rehash(0);  // gives back the memory of a peak
        next_sweep_ = std::max(min_sweep, 2 * patterns_.size());
    }

    static constexpr std::size_t min_sweep = 64;

    std::mutex mutex_;
    boost::unordered_flat_map<std::string, std::weak_ptr<const Pattern>, SeededHash> patterns_;
    std::size_t next_sweep_ = min_sweep;
};

}  // namespace

std::shared_ptr<const Pattern> shared_pattern(const std::string& regex, Pattern::Anchors anchors,
                                              std::size_t max_bytes) {
    static const Immortal<PerProcess<PatternTable>> tables;
    PatternTable& table = tables->get();
    const bool both = anchors == Pattern::Anchors::both;
    std::string key = (both ? '^' : ' ') + regex;
    if (std::shared_ptr<const Pattern> known = table.find(key)) return known;
    // A memory limit can slow a pattern down, so patterns are shared per limit.
    if (max_bytes != RelabelLimits().regex_bytes) {
        key = std::to_string(max_bytes) + key;
        if (std::shared_ptr<const Pattern> known = table.find(key)) return known;
    }
    // Not by make_shared(): the table would keep the memory of an unused pattern.
    return table.add(key, std::shared_ptr<const Pattern>(
                              new Pattern(regex, anchors, Pattern::Engine::fastest, max_bytes)));
}

namespace {

/// Minimum charge of a pattern, for its memory besides the program.
constexpr std::size_t min_instructions = 128;
/// RE2 reserves a quarter of its memory for the program.
constexpr std::size_t bytes_of_an_instruction = 64;

}  // namespace

std::shared_ptr<const Pattern> PatternBudget::pattern(const std::string& regex,
                                                      Pattern::Anchors anchors) {
    // Charge the text before any compilation.
    if (regex.size() > left_) spend(regex.size());
    std::shared_ptr<const Pattern> pattern;
    try {
        pattern = shared_pattern(regex, anchors, max_bytes_);
    } catch (const std::invalid_argument&) {
        // A failed compilation may have used memory up to the limit.
        left_ -= std::min(left_, regex.size() + max_bytes_ / bytes_of_an_instruction);
        throw;
    }
    const UsedPattern used{regex.size(), pattern};
    if (used_) used_->push_back(used);
    const std::size_t cost = cost_of(used);
    if (cost != 0 && patterns_.insert(pattern).second) spend(cost);
    return pattern;
}

std::size_t PatternBudget::cost_of(const UsedPattern& used) noexcept {
    const std::size_t instructions = used.pattern->instructions();
    return instructions > 1 ? std::max(min_instructions, used.text_bytes + instructions) : 0;
}

bool PatternBudget::count(const std::vector<UsedPattern>& all) {
    std::size_t left = left_;
    std::set<std::shared_ptr<const Pattern>> added;  // one rule can have very many
    for (const UsedPattern& used : all) {
        if (used.text_bytes > left) return false;
        const std::size_t cost = cost_of(used);
        if (cost == 0 || patterns_.contains(used.pattern)) continue;
        if (!added.insert(used.pattern).second) continue;
        if (cost > left) return false;
        left -= cost;
    }
    patterns_.merge(added);
    left_ = left;
    return true;
}

void PatternBudget::spend(std::size_t instructions) {
    if (instructions > left_) {
        left_ = 0;
        throw PatternsTooLarge("the regular expressions of the rules are larger than " +
                               std::to_string(max_) + " instructions together, which is the limit");
    }
    left_ -= instructions;
}

}  // namespace k8s_sd::inline v0::detail
