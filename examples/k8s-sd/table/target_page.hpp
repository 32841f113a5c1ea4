#pragma once

#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/target_query.hpp"
#include "table/target_table.hpp"

#include <boost/unordered/unordered_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace bridge {

/// A place in the targets of all jobs: behind a row of a page.
struct TargetCursor {
    std::string job{};
    TargetPosition position{};
    std::uint32_t equal = 1;  ///< how many rows at this position are behind it

    /// For URLs.
    std::string text() const;
};
/// \throws BadRequest for what TargetCursor::text() did not make
TargetCursor read_cursor(std::string_view text);

/// Which targets somebody wants to see.
struct TargetFilter {
    TargetQuery query{};
    std::set<TargetState> states{};  ///< none: any
    std::optional<std::string> ns{}, node{}, reason{};

    bool matches(const TargetRow&, const TargetTable&) const;
};

/// What a page is to show.
struct PageRequest {
    TargetFilter filter{};
    std::size_t limit = 50;
    std::optional<TargetCursor> after{};
    bool facets = false;
};

/// One page of the targets of some jobs, which it is given one after the other in their order.
class TargetPage {
 public:
    /// So many values of a facet are counted; of an endless number of reasons not all.
    static constexpr std::size_t max_values = 10'000;

    explicit TargetPage(PageRequest request) : request_(std::move(request)) {}

    /// Reads so many rows of the job at most. \returns whether there are more: ask again, when the
    /// job may have changed.
    bool read(const std::string& job, const TargetTable&, std::size_t rows);
    /// Groups of the job are missing.
    void missing(std::size_t groups) noexcept { missing_ += groups; }
    bool is_complete() const noexcept { return missing_ == 0; }
    /// As JSON.
    std::string text() const;

 private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    struct Facet {
        const char* name;
        boost::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> values{};
    };

    /// \param number  of the row, at its position
    bool is_shown_before(const std::string& job, const TargetRow&, std::size_t number) const;
    void take(const std::string& job, const TargetTable&, const TargetRow&, std::size_t number);
    void count(Facet&, std::string_view value);

    const PageRequest request_;
    std::string rows_;
    JsonWriter json_{rows_};
    std::size_t shown_ = 0, total_ = 0, missing_ = 0;
    TargetCursor last_{};    ///< behind the last row that is shown
    bool more_ = false;      ///< there are rows behind it
    std::string reading_{};  ///< the job that `reader_` reads
    RowReader reader_{};
    Facet states_{"state"}, jobs_{"job"}, namespaces_{"namespace"}, nodes_{"node"},
        reasons_{"reason"};
};

}  // namespace bridge
