#pragma once

#include "table/target_table.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace k8s_sd_program {

/// Whether there is time for one more row; called after each row.
using GoesOn = std::function<bool()>;

/// Reads the rows of one job in order, in steps. The table may change between steps: each remaining
/// row is still read exactly once.
class RowReader {
 public:
    RowReader() = default;  ///< starts at the first row
    /// \param equal  how many rows at this position to skip
    RowReader(TargetPosition position, std::size_t equal)
        : at_(std::move(position)), equal_(equal) {}

    /// Reads rows as long as there is time.
    /// \param each  bool(const TargetRow&, std::size_t n): the row, the nth at its position, from
    ///              1; false: stop after it
    /// \returns whether there are more
    template <class Each>
    bool read(const TargetTable& table, const GoesOn& has_time, Each&& each) {
        const OrderOfRows before;
        auto row = table.from(at_);
        for (std::size_t i = 0; i < equal_ && row != table.rows().end() && !before(at_, *row);
             ++i) {
            ++row;
        }
        const TargetRow* previous = nullptr;
        bool goes_on = true;
        for (; goes_on && row != table.rows().end(); previous = &*row++) {
            const bool same_place =
                previous ? !before(*previous, *row) : equal_ != 0 && !before(at_, *row);
            equal_ = same_place ? equal_ + 1 : 1;
            goes_on = each(*row, equal_) && has_time();
        }
        if (previous) at_ = {std::string(previous->address), previous->id};
        return row != table.rows().end();
    }

 private:
    TargetPosition at_{};
    std::size_t equal_ = 0;
};

}  // namespace k8s_sd_program
