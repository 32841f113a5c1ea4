#pragma once

#include "k8s_sd/target_group.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A diff delivered in parts with a bounded number of groups each. Later changes are no part of it:
/// the host receives them in the next diff, on top of all parts.
class DiffParts {
 public:
    using DiffPtr = std::shared_ptr<const TargetGroupDiff>;

    struct Taken {
        DiffPtr part;
        /// With the last of several parts: the whole diff. Its release visits each group, so it
        /// needs a handler of its own.
        DiffPtr whole;
    };

    bool empty() const noexcept { return !whole_; }
    void begin(DiffPtr diff) noexcept {
        whole_ = std::move(diff);
        taken_ = 0;
    }
    void clear() noexcept { whole_.reset(); }

    /// \param limit  groups in a part; zero: all
    /// \pre not empty()
    Taken take(std::size_t limit) {
        const std::size_t size = whole_->updated.size() + whole_->removed.size();
        if (taken_ == 0 && (limit == 0 || size <= limit)) {
            return {std::exchange(whole_, nullptr), nullptr};
        }
        const std::size_t end = taken_ + std::min(limit, size - taken_);
        Taken taken{part(end, end < size), nullptr};
        taken_ = end;
        if (end == size) taken.whole = std::exchange(whole_, nullptr);
        return taken;
    }

 private:
    /// \param end  index behind the last group of the part: updated groups, then removed ones
    DiffPtr part(std::size_t end, bool more) const {
        auto part = std::make_shared<TargetGroupDiff>();
        part->full = whole_->full && taken_ == 0;
        part->unconfirmed = whole_->unconfirmed;
        part->confirms = whole_->confirms && !more;
        part->more = more;
        const std::size_t updated = whole_->updated.size();
        for (std::size_t i = taken_; i < end; ++i) {
            if (i < updated) {
                part->updated.push_back(whole_->updated[i]);
            } else {
                part->removed.push_back(whole_->removed[i - updated]);
            }
        }
        return part;
    }

    DiffPtr whole_;  // null: none
    std::size_t taken_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
