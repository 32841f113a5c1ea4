#pragma once

#include "table/target_table.hpp"

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// A query that cannot be read; the text says why.
class QueryError : public std::invalid_argument {
 public:
    QueryError(const std::string& text, std::size_t at) : std::invalid_argument(text), at_(at) {}
    std::size_t at() const noexcept { return at_; }  ///< offset of the mistake, in bytes

 private:
    std::size_t at_;
};

/// The value of a label of a target: after relabelling where there is one, else as discovered;
/// "namespace", "pod", "service", "container" and "node" are known of every target. Empty: none.
/// The view is into the row or the name of the job.
std::string_view label_of(const TargetRow&, const TargetTable&, std::string_view name);

/// What the expressions of one question may be compiled to, however many queries it has.
struct QueryBudget {
    std::size_t instructions = 8192;
};

/// What somebody looks for in the targets: matchers such as `namespace="shop", pod=~"web-.*"`,
/// words and `/expressions/`, all of which must hold. Cheap to copy; thread-safe.
class TargetQuery {
 public:
    static constexpr std::size_t max_bytes = 4096;  ///< of a query
    static constexpr std::size_t max_terms = 32;    ///< that it is made of
    static constexpr std::size_t max_word_bytes = 256;
    static constexpr std::size_t max_matched_bytes =
        4096;  ///< of a text; an expression sees no more

    TargetQuery() = default;  ///< every target
    /// \throws QueryError
    explicit TargetQuery(std::string_view text);
    /// One of several of a question.
    TargetQuery(std::string_view text, QueryBudget& budget);

    bool matches(const TargetRow&, const TargetTable&) const;

 private:
    using Term = std::function<bool(const TargetRow&, const TargetTable&)>;
    class Reader;

    std::vector<Term> terms_;
};

}  // namespace bridge
