#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/label_names.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <utility>

namespace k8s_sd::inline v0 {
namespace {

constexpr std::string_view end_of_text = "the end";

enum class Token { end, word, comma, open, close, equal, not_equal, not_, greater, less, bad };

struct Lexeme {
    Token token = Token::end;
    std::string_view text;
    std::size_t begin = 0;
};

class LabelParser {
 public:
    explicit LabelParser(std::string_view text) : text_(text) { advance(); }

    std::vector<LabelSelector::Requirement> run() {
        std::vector<LabelSelector::Requirement> result;
        if (current_.token == Token::end) return result;
        for (;;) {
            result.push_back(requirement());
            if (current_.token == Token::end) return result;
            if (current_.token != Token::comma) fail("expected ',' or the end");
            advance();
        }
    }

 private:
    using Operator = LabelSelector::Operator;
    using Requirement = LabelSelector::Requirement;

    [[noreturn]] void fail(const std::string& problem) const { fail(problem, current_); }
    [[noreturn]] static void fail(const std::string& problem, const Lexeme& at) {
        const bool end = at.token == Token::end;
        std::string found = end ? std::string(end_of_text) : "'" + std::string(at.text) + "'";
        throw ConfigError("label selector", "cannot be parsed at character " +
                                                std::to_string(at.begin + 1) + ": found " + found +
                                                ", " + problem);
    }

    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
    static bool is_symbol(char c) {
        return std::string_view("=!(),><").find(c) != std::string_view::npos;
    }

    void advance() {
        while (position_ < text_.size() && is_space(text_[position_])) ++position_;
        const std::size_t begin = position_;
        if (begin == text_.size()) {
            current_ = {Token::end, {}, begin};
            return;
        }
        const Token token = is_symbol(text_[begin]) ? symbol() : word();
        current_ = {token, text_.substr(begin, position_ - begin), begin};
    }

    Token word() {
        while (position_ < text_.size() && !is_space(text_[position_]) &&
               !is_symbol(text_[position_])) {
            ++position_;
        }
        return Token::word;
    }

    Token symbol() {
        const char first = text_[position_++];
        const bool equal_follows = position_ < text_.size() && text_[position_] == '=';
        switch (first) {
            case ',': return Token::comma;
            case '(': return Token::open;
            case ')': return Token::close;
            case '>': return Token::greater;
            case '<': return Token::less;
            case '=': position_ += equal_follows; return Token::equal;
            case '!':
                position_ += equal_follows;
                return equal_follows ? Token::not_equal : Token::not_;
            default: return Token::bad;
        }
    }

    Requirement requirement() {
        Requirement result;
        const bool negated = current_.token == Token::not_;
        if (negated) advance();
        result.key = key();
        if (negated) {
            result.op = Operator::does_not_exist;
        } else if (current_.token != Token::end && current_.token != Token::comma) {
            condition(result);
        }
        return result;
    }

    std::string key() {
        if (current_.token != Token::word) fail("expected a label key");
        const std::string_view text = current_.text;
        const std::size_t slash = text.find('/');
        const bool prefixed = slash != std::string_view::npos;
        if (prefixed && !detail::is_dns_subdomain(text.substr(0, slash))) {
            fail("the prefix of a label key must be a lower-case DNS name of at most 253 "
                 "characters");
        }
        if (!detail::is_label_part(prefixed ? text.substr(slash + 1) : text)) {
            fail("a label key has 1 to 63 letters, digits, '-', '_' or '.' and begins and ends "
                 "with a letter or digit");
        }
        advance();
        return std::string(text);
    }

    void condition(Requirement& result) {
        const Lexeme op = current_;
        advance();
        if (op.token == Token::word && (op.text == "in" || op.text == "notin")) {
            result.op = op.text == "in" ? Operator::in : Operator::not_in;
            result.values = value_list();
            return;
        }
        switch (op.token) {
            case Token::equal: result.op = Operator::in; break;
            case Token::not_equal: result.op = Operator::not_in; break;
            case Token::greater: result.op = Operator::greater; break;
            case Token::less: result.op = Operator::less; break;
            default: fail("expected one of = == != in notin < > ',' or the end", op);
        }
        const bool numeric = op.token == Token::greater || op.token == Token::less;
        result.values.push_back(numeric ? integer() : value());
    }

    std::string integer() {
        const Lexeme at = current_;
        std::string text = value();
        std::int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [last, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || last != end) fail("expected an integer after < or >", at);
        return text;
    }

    /// The value may be missing: "a=" selects objects with an empty label.
    std::string value() {
        const Token token = current_.token;
        if (token == Token::end || token == Token::comma || token == Token::close) return {};
        if (token != Token::word) fail("expected a label value");
        if (!detail::is_label_part(current_.text)) {
            fail("a label value is empty or has at most 63 letters, digits, '-', '_' or '.' and "
                 "begins and ends with a letter or digit");
        }
        std::string result(current_.text);
        advance();
        return result;
    }

    std::vector<std::string> value_list() {
        if (current_.token != Token::open) fail("expected '('");
        advance();
        std::vector<std::string> values;
        for (;;) {
            values.push_back(value());
            if (current_.token == Token::close) break;
            if (current_.token != Token::comma) fail("expected ',' or ')'");
            advance();
            if (current_.token != Token::comma) continue;
            // labels.Parse reads two commas as one empty value, and requires another after it.
            values.emplace_back();
            advance();
            if (current_.token == Token::close) fail("expected a label value");
        }
        advance();
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }

    std::string_view text_;
    std::size_t position_ = 0;
    Lexeme current_;
};

[[noreturn]] void fail_field(std::size_t offset, const std::string& problem) {
    throw ConfigError("field selector", "cannot be parsed at character " +
                                            std::to_string(offset + 1) + ": " + problem);
}

/// The end of the term at `begin`: the next comma without a backslash.
std::size_t term_end(std::string_view text, std::size_t begin) {
    std::size_t i = begin;
    while (i < text.size() && text[i] != ',') i += text[i] == '\\' ? 2U : 1U;
    return std::min(i, text.size());
}

std::string unescape(std::string_view value, std::size_t offset) {
    std::string result;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '=') fail_field(offset + i, "'=' in a value must be written '\\='");
        if (value[i] == '\\') {
            const bool valid = i + 1 < value.size() && std::string_view("\\,=").find(
                                                           value[i + 1]) != std::string_view::npos;
            if (!valid) fail_field(offset + i, "a backslash must be followed by '\\', ',' or '='");
            ++i;
        }
        result += value[i];
    }
    return result;
}

FieldSelector::Requirement field_requirement(std::string_view term, std::size_t offset) {
    const std::size_t op = term.find('=');
    if (op == std::string_view::npos) {
        fail_field(offset, "'" + std::string(term) + "' has no operator; allowed are = == !=");
    }
    FieldSelector::Requirement result;
    result.equal = op == 0 || term[op - 1] != '!';
    const std::size_t path_size = result.equal ? op : op - 1;
    const bool doubled = result.equal && op + 1 < term.size() && term[op + 1] == '=';
    const std::size_t value_begin = op + (doubled ? 2 : 1);
    result.path = term.substr(0, path_size);
    result.value = unescape(term.substr(value_begin), offset + value_begin);
    return result;
}

}  // namespace

LabelSelector LabelSelector::parse(std::string_view text) {
    LabelSelector result;
    result.requirements_ = LabelParser(text).run();
    return result;
}

FieldSelector FieldSelector::parse(std::string_view text) {
    FieldSelector result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = term_end(text, begin);
        if (end != begin) {
            result.requirements_.push_back(
                field_requirement(text.substr(begin, end - begin), begin));
        }
        begin = end + 1;
    }
    return result;
}

}  // namespace k8s_sd::inline v0
