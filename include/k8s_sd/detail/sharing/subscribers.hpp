#pragma once

#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The views of a watch by the number of their selection, so that a change reaches the views with
/// the object without a test of all others. Views may be added and removed during calls.
/// Strand-confined.
template <class View>
class Subscribers {
 public:
    /// Nullopt: the view has no selection, it has all objects.
    using Number = std::optional<std::size_t>;

    /// The view is inactive at first. Has no effect for a known view.
    void add(View& view, Number selection) {
        const std::size_t slot = slot_of(selection);
        if (slot >= slots_.size()) slots_.resize(slot + 1);
        if (find(view, slot)) return;
        slots_[slot].push_back({&view, false});
        ++count_;
    }
    /// Has no effect for an unknown view.
    void set_active(const View& view, Number selection) {
        if (Subscriber* const known = find(view, slot_of(selection))) known->active = true;
    }
    /// Has no effect for an unknown view.
    void remove(const View& view, Number selection) {
        const std::size_t slot = slot_of(selection);
        Subscriber* const known = find(view, slot);
        if (!known) return;
        known->view = nullptr;
        --count_;
        if (calling_ == 0) return close_gaps(slots_[slot]);
        has_gaps_ = true;
    }
    bool empty() const noexcept { return count_ == 0; }

    template <class Call>
    void for_each(Call call) {
        const Calling calling(*this);
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) visit(slot, false, call);
    }
    template <class Call>
    void for_each_active(Call call) {
        const Calling calling(*this);
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) visit(slot, true, call);
    }
    /// Those with one of these selections, and those without a selection.
    template <class Call>
    void for_each_active_of(const ViewSet& selections, Call call) {
        const Calling calling(*this);
        visit(slot_of(std::nullopt), true, call);
        selections.for_each([&](std::size_t number) { visit(slot_of(number), true, call); });
    }
    template <class Predicate>
    bool any_of(Predicate predicate) const {
        return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
            return std::any_of(slot.begin(), slot.end(), [&](const Subscriber& subscriber) {
                return subscriber.view && predicate(*subscriber.view);
            });
        });
    }

 private:
    struct Subscriber {
        View* view;  ///< null: removed during a call
        bool active;
    };
    using Slot = std::vector<Subscriber>;
    /// Keeps the indices of the views during calls.
    class Calling {
     public:
        explicit Calling(Subscribers& subscribers) : subscribers_(subscribers) {
            ++subscribers_.calling_;
        }
        Calling(const Calling&) = delete;
        Calling& operator=(const Calling&) = delete;
        ~Calling() {
            if (--subscribers_.calling_ != 0 || !std::exchange(subscribers_.has_gaps_, false))
                return;
            for (Slot& slot : subscribers_.slots_) close_gaps(slot);
        }

     private:
        Subscribers& subscribers_;
    };

    static std::size_t slot_of(Number selection) noexcept { return selection ? *selection + 1 : 0; }
    static void close_gaps(Slot& slot) {
        std::erase_if(slot, [](const Subscriber& subscriber) { return !subscriber.view; });
    }
    Subscriber* find(const View& view, std::size_t slot) {
        if (slot >= slots_.size()) return nullptr;
        const auto it = std::find_if(slots_[slot].begin(), slots_[slot].end(),
                                     [&](const Subscriber& known) { return known.view == &view; });
        return it == slots_[slot].end() ? nullptr : &*it;
    }
    template <class Call>
    void visit(std::size_t slot, bool active_only, Call& call) {
        if (slot >= slots_.size()) return;
        for (std::size_t i = 0; i < slots_[slot].size(); ++i) {  // a call may add views
            const Subscriber subscriber = slots_[slot][i];
            if (subscriber.view && (subscriber.active || !active_only)) call(*subscriber.view);
        }
    }

    std::vector<Slot> slots_;  // the first one is for views without a selection
    std::size_t count_ = 0;
    std::size_t calling_ = 0;
    bool has_gaps_ = false;
};

}  // namespace k8s_sd::inline v0::detail
