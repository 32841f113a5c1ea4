#pragma once

#include "lists/collectors.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/target_query.hpp"
#include "table/target_table.hpp"

#include <boost/unordered/unordered_map.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// A position in the targets of all jobs: after a row of a page.
struct TargetCursor {
    std::string job{};
    TargetPosition position{};
    std::uint32_t equal = 1;  ///< the number of rows at this position before the cursor

    /// For URLs.
    std::string text() const;
};
/// \throws BadRequest unless the text is from TargetCursor::text()
TargetCursor read_cursor(std::string_view text);

/// The properties for selecting and counting targets.
enum class Facet : std::uint8_t { state, job, ns, node, reason };
inline constexpr std::size_t facet_count = 5;  ///< number of values of Facet

/// The name of a facet, as in parameters.
constexpr std::string_view to_string(Facet facet) noexcept {
    constexpr std::string_view names[facet_count] = {"state", "job", "namespace", "node", "reason"};
    return names[static_cast<std::size_t>(facet)];
}

/// With collectors: the state of an active target without any, besides "active".
inline constexpr std::string_view unowned_state = "unowned";

/// Selects targets.
struct TargetSelection {
    using Values = std::set<std::string, std::less<>>;

    TargetQuery query{};
    std::array<Values, facet_count> wanted{};  ///< by facet; empty: any value
    AllocationViewPtr collectors{};            ///< null: none, or unknown

    Values& of(Facet facet) { return wanted[static_cast<std::size_t>(facet)]; }
};

/// The parameters of a page.
struct PageRequest {
    TargetSelection filter{};
    std::size_t limit = 50;
    std::optional<TargetCursor> after{};
    bool facets = false;
};

/// One page of the targets of some jobs, read one after the other in order.
class TargetPage {
 public:
    /// The number of counted values of a facet; further values are not counted.
    static constexpr std::size_t max_values = 10'000;
    /// The size limit of the rows; a page may have fewer rows because of it.
    static constexpr std::size_t max_bytes = std::size_t{256} << 10;

    explicit TargetPage(PageRequest request) : request_(std::move(request)) {}

    /// Reads rows of the job as long as there is time. \returns whether there are more: then call
    /// it again, even if the job has changed
    bool read(const std::string& job, const TargetTable&, const GoesOn& has_time);
    /// Adds groups not yet read in the job's table.
    void missing(std::size_t groups) noexcept { missing_ += groups; }
    bool has_all_groups() const noexcept { return missing_ == 0; }
    /// The page as JSON. \param all  whether all jobs were read
    std::string text(bool all = true) const;

 private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    using Counts = boost::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;
    /// The values of a facet in a row.
    using RowValues = std::array<std::string_view, 2>;

    RowValues values_of(Facet, const std::string& job, const TargetTable&, const TargetRow&) const;
    void examine(const std::string& job, const TargetTable&, const TargetRow&, std::size_t number);
    /// \param number  the row's number at its position
    bool is_shown_before(const std::string& job, const TargetRow&, std::size_t number) const;
    void show(const std::string& job, const TargetTable&, const TargetRow&, std::size_t number);
    void count(Counts&, const RowValues&) const;
    void write_facets(JsonWriter&) const;

    const PageRequest request_;
    std::string rows_;
    std::size_t shown_ = 0, total_ = 0, missing_ = 0;
    TargetCursor last_{};    ///< the position after the last row shown
    bool more_ = false;      ///< there are rows after it
    std::string reading_{};  ///< the job being read by `reader_`
    RowReader reader_{};
    std::array<Counts, facet_count> counts_{};
};

}  // namespace k8s_sd_program
