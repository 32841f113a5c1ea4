#pragma once

#include "table/target_table.hpp"

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// An invalid query; the text explains the mistake.
class QueryError : public std::invalid_argument {
 public:
    QueryError(const std::string& text, std::size_t at) : std::invalid_argument(text), at_(at) {}
    std::size_t at() const noexcept { return at_; }  ///< offset of the mistake, in bytes

 private:
    std::size_t at_;
};

/// The value of a target's label: after relabelling if present, otherwise as discovered;
/// "namespace", "pod", "service", "container" and "node" exist for every target. Empty: none. The
/// view refers to the row or the name of the job.
std::string_view label_of(const TargetRow&, const TargetTable&, std::string_view name);

/// The limit of the compiled expressions in one request, for all its queries together.
struct QueryBudget {
    std::size_t instructions = 8192;
};

/// A query for targets: matchers such as `namespace="shop", pod=~"web-.*"`, words and
/// `/expressions/`, combined with AND. Cheap to copy; thread-safe.
class TargetQuery {
 public:
    static constexpr std::size_t max_bytes = 4096;  ///< of a query
    static constexpr std::size_t max_terms = 32;    ///< in a query
    static constexpr std::size_t max_word_bytes = 256;
    static constexpr std::size_t max_matched_bytes =
        4096;  ///< of a text; expressions match only its start

    TargetQuery() = default;  ///< every target
    /// \throws QueryError
    explicit TargetQuery(std::string_view text);
    /// One of several queries in a request.
    TargetQuery(std::string_view text, QueryBudget& budget);

    bool matches(const TargetRow&, const TargetTable&) const;

 private:
    using Term = std::function<bool(const TargetRow&, const TargetTable&)>;
    class Reader;

    std::vector<Term> terms_;
};

}  // namespace k8s_sd_program
