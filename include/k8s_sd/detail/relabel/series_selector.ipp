#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

using Condition = SeriesSelector::Condition;
using Conditions = SeriesSelector::Conditions;
using Operator = SeriesSelector::Operator;

constexpr std::string_view name_label = "__name__";

class Parser {
 public:
    Parser(std::string_view text, PatternBudget& patterns) : text_(text), patterns_(patterns) {
        position_ = find_invalid_utf8(text);
        if (position_ != text.size()) fail("is not UTF-8");
        position_ = 0;
    }

    std::vector<Conditions> run() {
        skip_space();
        Conditions name;
        if (is_name_start()) name.push_back(equal(take_name()));
        std::vector<Conditions> alternatives;
        if (take("{")) {
            alternatives = braces(name);
        } else if (name.empty()) {
            fail("expected a metric's name or '{'");
        } else {
            alternatives.push_back(std::move(name));
        }
        if (position_ != text_.size()) fail("expected the end");
        return alternatives;
    }

 private:
    [[noreturn]] void fail(const std::string& problem) const {
        throw std::invalid_argument("cannot be parsed at byte " + std::to_string(position_ + 1) +
                                    ": " + problem);
    }

    static Condition equal(std::string name) {
        return {std::string(name_label), Operator::equal, std::move(name)};
    }

    std::vector<Conditions> braces(const Conditions& name) {
        std::vector<Conditions> alternatives;
        bool more = true;
        while (more) {
            Conditions conditions;
            for (const Condition& c : name) conditions.push_back(equal(c.value));
            more = take_conditions(conditions, alternatives.empty());
            if (!conditions.empty()) alternatives.push_back(std::move(conditions));
        }
        return alternatives;
    }

    /// Parses up to an `or`, and then returns true, or the closing brace. Only the first list may
    /// be empty.
    bool take_conditions(Conditions& conditions, bool may_be_none) {
        if (may_be_none && take("}")) return false;
        while (true) {
            conditions.push_back(condition());
            if (take("}")) return false;
            if (take_or()) return true;
            if (!take(",")) fail("expected ',', 'or' or '}'");
            if (take("}")) return false;
        }
    }

    Condition condition() {
        const bool quoted = is_quote();
        if (!quoted && !is_name_start()) fail("expected a label's name");
        std::string label = quoted ? take_string() : take_name();
        Condition result{std::move(label), Operator::equal, ""};
        if (take("=~")) {
            result.op = Operator::matches;
        } else if (take("!~")) {
            result.op = Operator::does_not_match;
        } else if (take("!=")) {
            result.op = Operator::not_equal;
        } else if (!take("=")) {
            // A quoted metric name.
            if (quoted) return equal(std::move(result.label));
            fail("expected one of = != =~ !~");
        }
        if (!is_quote()) fail("expected a value in quotes");
        const std::size_t value_begin = position_;
        result.value = take_string();
        if (result.op == Operator::matches || result.op == Operator::does_not_match) {
            result.pattern = pattern(result.value, value_begin);
        }
        return result;
    }

    std::shared_ptr<const Pattern> pattern(const std::string& regex, std::size_t begin) {
        try {
            return patterns_.pattern(regex);
        } catch (const std::invalid_argument& e) {
            position_ = begin;
            fail(std::string("no valid regular expression (RE2): ") + e.what());
        }
    }

    // Tokens, each with its trailing white space.

    void skip_space() {
        position_ = std::min(text_.find_first_not_of(" \t\r\n\v\f", position_), text_.size());
    }

    bool take(std::string_view token) {
        if (!text_.substr(position_).starts_with(token)) return false;
        position_ += token.size();
        skip_space();
        return true;
    }

    bool take_or() {
        const std::string_view rest = text_.substr(position_);
        if (lower_case(rest.substr(0, 2)) != "or") return false;
        // "orange" is not an operator.
        if (rest.size() > 2 && (is_name_character(rest[2]) || rest[2] == '\\')) return false;
        return take(rest.substr(0, 2));
    }

    static bool is_name_character(char c) {
        return is_word(c) || c == ':' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    }
    bool is_name_start() const {
        if (position_ == text_.size()) return false;
        const char c = text_[position_];
        return (is_name_character(c) && !is_digit(c) && c != '.') || c == '\\';
    }
    std::string take_name() {
        std::string name;
        for (; position_ < text_.size(); ++position_) {
            const char c = text_[position_];
            if (c == '\\') {
                take_name_escape(name);
            } else if (is_name_character(c)) {
                name += c;
            } else {
                break;
            }
        }
        skip_space();
        return name;
    }

    /// MetricsQL escapes: `\-` is '-', and so are `\x2d` and `\u002d`. Stops at the last byte of
    /// the escape.
    void take_name_escape(std::string& name) {
        const char c = ++position_ < text_.size() ? text_[position_] : '\0';
        if (c == 'x' || c == 'X' || c == 'u' || c == 'U') {
            ++position_;
            const std::uint32_t code = take_number(c == 'x' || c == 'X' ? 2 : 4, 16);
            if (code >= 0xd800 && code < 0xe000) fail("no such character");
            append_utf8(name, code);
            --position_;
        } else if (c >= ' ' && c != '\x7f') {
            name += c;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            name += c;  // the following characters belong to names anyway
        } else {
            fail("expected a character after the backslash");
        }
    }

    bool is_quote() const {
        return position_ < text_.size() &&
               std::string_view("\"'`").find(text_[position_]) != std::string_view::npos;
    }

    std::string take_string() {
        const char quote = text_[position_];
        std::string value;
        for (++position_; position_ < text_.size() && text_[position_] != quote;) {
            if (text_[position_] == '\n' && quote != '`') break;
            if (text_[position_] == '\\' && quote != '`') {
                ++position_;
                take_escape(value);
            } else {
                value += text_[position_++];
            }
        }
        if (position_ == text_.size() || text_[position_] != quote) {
            fail(std::string("expected the closing ") + quote);
        }
        ++position_;
        skip_space();
        return value;
    }

    /// Go's escapes; the backslash has been consumed.
    void take_escape(std::string& value) {
        constexpr std::string_view names = "abfnrtv\\\"'";
        constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\\"'";
        const char c = position_ < text_.size() ? text_[position_] : '\0';
        if (const std::size_t i = names.find(c); i != std::string_view::npos) {
            value += meanings[i];
            ++position_;
        } else if (c == 'x') {
            ++position_;
            value += static_cast<char>(take_number(2, 16));
        } else if (c == 'u' || c == 'U') {
            ++position_;
            const std::uint32_t code = take_number(c == 'u' ? 4 : 8, 16);
            if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) fail("no such character");
            append_utf8(value, code);
        } else if (is_digit(c)) {
            const std::uint32_t byte = take_number(3, 8);
            if (byte > 0xff) fail("an octal escape is at most \\377");
            value += static_cast<char>(byte);
        } else {
            fail("unknown escape; write two backslashes for one");
        }
    }

    std::uint32_t take_number(std::size_t digits, std::uint32_t base) {
        std::uint32_t number = 0;
        for (; digits > 0; --digits, ++position_) {
            const char c = position_ < text_.size() ? text_[position_] : '\0';
            const std::uint32_t digit = hex_value(c);
            if (digit >= base) fail("this escape needs more digits");
            number = number * base + digit;
        }
        return number;
    }

    std::string_view text_;
    PatternBudget& patterns_;
    std::size_t position_ = 0;
};

/// In vmagent, an absent name does not equal the empty name.
bool is_equal(const Condition& condition, const MutableLabels& labels) {
    if (condition.label == name_label && condition.value.empty()) {
        return MutableLabels::find(labels.labels(), name_label) != nullptr &&
               labels.get(name_label).empty();
    }
    return labels.get(condition.label) == condition.value;
}

bool pattern_matches(const Condition& condition, const MutableLabels& labels,
                     RelabelBudget& budget) {
    const std::string_view value = labels.get(condition.label);
    budget.charge_match(*condition.pattern, value.size());
    return condition.pattern->matches(value);
}

bool holds(const Condition& condition, const MutableLabels& labels, RelabelBudget& budget) {
    switch (condition.op) {
        case Operator::equal: return is_equal(condition, labels);
        case Operator::not_equal: return !is_equal(condition, labels);
        case Operator::matches: return pattern_matches(condition, labels, budget);
        case Operator::does_not_match: break;
    }
    return !pattern_matches(condition, labels, budget);
}

}  // namespace

SeriesSelector::SeriesSelector(std::string_view text, PatternBudget& patterns)
    : alternatives_(Parser(text, patterns).run()) {}

bool SeriesSelector::matches(const MutableLabels& labels, RelabelBudget& budget) const {
    return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const Conditions& all) {
        return std::all_of(all.begin(), all.end(),
                           [&](const Condition& c) { return holds(c, labels, budget); });
    });
}

}  // namespace k8s_sd::inline v0::detail
