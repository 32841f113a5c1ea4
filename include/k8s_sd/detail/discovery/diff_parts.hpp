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
    /// \param diff  others may have it, too
    void begin(DiffPtr diff) noexcept {
        whole_ = std::move(diff);
        is_own_ = false;
        taken_ = 0;
    }
    /// \param diff  its groups move into the parts, so that the host releases them part by part
    void begin_own(std::shared_ptr<TargetGroupDiff> diff) noexcept {
        begin(std::move(diff));
        is_own_ = true;
    }

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
    DiffPtr part(std::size_t end, bool more) {
        auto part = std::make_shared<TargetGroupDiff>();
        part->full = whole_->full && taken_ == 0;
        part->unconfirmed = whole_->unconfirmed;
        part->confirms = whole_->confirms && !more;
        part->more = more;
        const std::size_t updated = whole_->updated.size();
        const std::size_t begin_updated = std::min(taken_, updated);
        const std::size_t end_updated = std::min(end, updated);
        // Moving cannot fail.
        part->updated.reserve(end_updated - begin_updated);
        part->removed.reserve(end - taken_ - (end_updated - begin_updated));
        append(whole_->updated, begin_updated, end_updated, part->updated);
        append(whole_->removed, std::max(taken_, updated) - updated,
               std::max(end, updated) - updated, part->removed);
        return part;
    }
    template <class Groups>
    void append(const Groups& whole, std::size_t begin, std::size_t end, Groups& part) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (is_own_) {
                // The diff given to begin_own() is not const.
                part.push_back(std::move(const_cast<typename Groups::reference>(whole[i])));
            } else {
                part.push_back(whole[i]);
            }
        }
    }

    DiffPtr whole_;  // null: none
    bool is_own_ = false;
    std::size_t taken_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
