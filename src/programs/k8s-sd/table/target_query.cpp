#include "table/target_query.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace k8s_sd_program {

namespace {

using Regex = std::shared_ptr<const re2::RE2>;

constexpr int max_instructions = 4096;  // of an expression

constexpr std::string_view meta = "__meta_kubernetes_";

/// Common short names, and the names of Kubernetes' labels for them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> usual_names = {
    {{"pod", "pod_name"}, {"service", "service_name"}, {"container", "pod_container_name"}}};

std::string_view discovered(const TargetRow& row, std::string_view prefix, std::string_view name) {
    const auto find = [&](const k8s_sd::Labels& labels) -> std::string_view {
        for (const auto& [label, value] : labels) {
            if (label.size() == prefix.size() + name.size() && label.ends_with(name) &&
                label.starts_with(prefix)) {
                return value;
            }
        }
        return {};
    };
    const auto own = find((*row.group)[row.index]);
    return own.empty() ? find(row.group->labels()) : own;
}

char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A case-insensitive search for a word. Linear time (Knuth, Morris and Pratt), because texts can
/// be long and a client can choose words with a slow naive search: after a mismatch the borders
/// table gives the matched length.
class Word {
 public:
    explicit Word(std::string word) : word_(std::move(word)), borders_(word_.size()) {
        std::transform(word_.begin(), word_.end(), word_.begin(), lower);
        if (!word_.empty()) begins_ = {word_.front(), upper(word_.front())};
        for (std::size_t i = 1; i < word_.size(); ++i) {
            borders_[i] = behind(word_[i], borders_[i - 1]);
        }
    }
    bool is_in(std::string_view text) const noexcept {
        std::size_t matched = 0;
        for (auto at = text.begin(); at != text.end() && matched < word_.size();) {
            // Skip quickly: most characters do not begin the word.
            if (matched == 0) at = std::find_if(at, text.end(), begins_);
            if (at != text.end()) matched = behind(lower(*at++), matched);
        }
        return matched == word_.size();
    }

 private:
    /// The matched length after this character, from the matched length before it.
    std::size_t behind(char c, std::size_t matched) const noexcept {
        while (matched != 0 && word_[matched] != c) matched = borders_[matched - 1];
        return word_[matched] == c ? matched + 1 : matched;
    }

    /// Matches the first character of the word.
    struct Begins {
        char lower = '\0', upper = '\0';
        bool operator()(char c) const noexcept { return c == lower || c == upper; }
    };

    std::string word_;
    Begins begins_{};
    std::vector<std::size_t> borders_;  ///< by prefix length: its longest border
};

/// Whether the predicate holds for one of a target's texts: its address, its object, and its
/// labels, both the discovered ones and those after relabelling.
template <class Predicate>
bool any_text(const TargetRow& row, Predicate&& holds) {
    if (holds(row.address) || holds(row.group->source()) || holds(row.ns) || holds(row.node)) {
        return true;
    }
    const auto any = [&](const auto& labels) {
        for (const auto& [name, value] : labels) {
            if (holds(value)) return true;
        }
        return false;
    };
    return (row.target && any(row.target->labels())) || any((*row.group)[row.index]) ||
           any(row.group->labels());
}

}  // namespace

std::string_view label_of(const TargetRow& row, const TargetTable& table, std::string_view name) {
    if (row.target) {
        if (const auto value = row.target->get(name); !value.empty()) return value;
    }
    if (name == "__address__") return row.address;
    if (name == "__meta_kubernetes_namespace") return row.ns;
    if (const auto value = discovered(row, {}, name); !value.empty()) return value;
    if (name == "namespace") return row.ns;
    if (name == "node") return row.node;
    if (name == "job") return table.config().job_name;
    for (const auto& [usual, kubernetes] : usual_names) {
        if (name == usual) return discovered(row, meta, kubernetes);
    }
    return {};
}

/// Parses a query.
class TargetQuery::Reader {
 public:
    Reader(std::string_view text, QueryBudget& budget) : text_(text), budget_(budget) {}

    std::vector<Term> read() {
        if (text_.size() > max_bytes) {
            throw QueryError("the query is longer than 4096 bytes", max_bytes);
        }
        std::vector<Term> terms;
        while (skip_separators()) {
            if (terms.size() == max_terms) throw QueryError("more than 32 terms", at_);
            terms.push_back(term());
        }
        return terms;
    }

 private:
    static bool is_separator(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == '{' || c == '}';
    }
    bool skip_separators() {
        while (at_ < text_.size() && is_separator(text_[at_])) ++at_;
        return at_ < text_.size();
    }

    Term term() {
        const std::size_t begin = at_;
        if (text_[at_] == '/') return expression(begin);
        std::string name = text_[at_] == '"' || text_[at_] == '\'' ? quoted() : plain("=!");
        const auto compare = comparison();
        if (!compare) {
            if (at_ < text_.size() && text_[at_] == '!') {
                throw QueryError("after ! there must be = or ~", at_);
            }
            return word(std::move(name), begin);
        }
        if (name.empty()) throw QueryError("a label is missing before " + *compare, begin);
        const std::size_t value_at = at_;
        return matcher(std::move(name), *compare, value(), value_at);
    }

    /// Reads an unquoted text.
    std::string plain(std::string_view stops) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && !is_separator(text_[at_]) &&
               stops.find(text_[at_]) == stops.npos) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    /// Supports the common escapes of Go and PromQL: \" \' \\ \n \t.
    std::string quoted() {
        const std::size_t begin = at_;
        const char quote = text_[at_++];
        std::string result;
        for (; at_ < text_.size(); ++at_) {
            char c = text_[at_];
            if (c == quote) {
                ++at_;
                return result;
            }
            if (c == '\\' && at_ + 1 < text_.size()) {
                c = text_[++at_];
                if (c == 'n')
                    c = '\n';
                else if (c == 't')
                    c = '\t';
                else if (c != '\\' && c != '"' && c != '\'')
                    result += '\\';
            }
            result += c;
        }
        throw QueryError("a quote is missing at the end", begin);
    }

    std::optional<std::string> comparison() {
        for (const std::string_view known : {"=~", "!~", "!=", "="}) {
            if (!text_.substr(at_).starts_with(known)) continue;
            at_ += known.size();
            return std::string(known);
        }
        return std::nullopt;
    }

    std::string value() {
        const bool in_quotes = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
        return in_quotes ? quoted() : plain({});
    }

    /// The part of a text matched by an expression: each byte may cost as much as the expression is
    /// large.
    static re2::StringPiece begin_of(std::string_view text) {
        return {text.data(), std::min(text.size(), max_matched_bytes)};
    }

    /// Refuses large expressions, and expressions with a large memory need.
    Regex compiled(const std::string& pattern, std::size_t at) {
        // Charge for the text before compiling it.
        spend(pattern.size(), at);
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_dot_nl(true);
        options.set_max_mem(std::int64_t{1} << 20);
        auto regex = std::make_shared<const re2::RE2>(pattern, options);
        if (!regex->ok()) throw QueryError("the expression cannot be used: " + regex->error(), at);
        if (regex->ProgramSize() > max_instructions) {
            throw QueryError("the expression is too large; are there repetitions of repetitions?",
                             at);
        }
        spend(static_cast<std::size_t>(regex->ProgramSize()), at);
        return regex;
    }

    void spend(std::size_t instructions, std::size_t at) {
        if (instructions > budget_.instructions) {
            throw QueryError("the expressions are too large together", at);
        }
        budget_.instructions -= instructions;
    }

    /// `/web-[0-9]/`, anywhere in the texts of the target.
    Term expression(std::size_t begin) {
        std::string pattern;
        for (++at_; at_ < text_.size() && text_[at_] != '/'; ++at_) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
                if (text_[at_ + 1] != '/') pattern += '\\';
                ++at_;
            }
            pattern += text_[at_];
        }
        if (at_ == text_.size()) throw QueryError("a / is missing at the end", begin);
        ++at_;
        return [regex = compiled(pattern, begin)](const TargetRow& row, const TargetTable&) {
            return any_text(row, [&](std::string_view text) {
                return re2::RE2::PartialMatch(begin_of(text), *regex);
            });
        };
    }

    static Term word(std::string text, std::size_t begin) {
        if (text.size() > max_word_bytes) {
            throw QueryError("a word is longer than 256 bytes", begin);
        }
        return [word = Word(std::move(text))](const TargetRow& row, const TargetTable&) {
            return any_text(row, [&](std::string_view of_row) { return word.is_in(of_row); });
        };
    }

    Term matcher(std::string name, const std::string& comparison, std::string wanted,
                 std::size_t at) {
        const bool negative = comparison.front() == '!';
        if (comparison.back() == '=') {
            return [=](const TargetRow& row, const TargetTable& table) {
                return (label_of(row, table, name) == wanted) != negative;
            };
        }
        return [=, regex = compiled(wanted, at)](const TargetRow& row, const TargetTable& table) {
            return re2::RE2::FullMatch(begin_of(label_of(row, table, name)), *regex) != negative;
        };
    }

    const std::string_view text_;
    QueryBudget& budget_;
    std::size_t at_ = 0;
};

TargetQuery::TargetQuery(std::string_view text) {
    QueryBudget budget;
    terms_ = Reader(text, budget).read();
}

TargetQuery::TargetQuery(std::string_view text, QueryBudget& budget)
    : terms_(Reader(text, budget).read()) {}

bool TargetQuery::matches(const TargetRow& row, const TargetTable& table) const {
    return std::all_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return term(row, table); });
}

}  // namespace k8s_sd_program
