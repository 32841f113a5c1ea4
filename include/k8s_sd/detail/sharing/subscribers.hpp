#pragma once

#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
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
        gaps_.push_back(slot);
        known->view = nullptr;
        --count_;
        if (calling_ == 0) close_gaps();
    }
    bool empty() const noexcept { return count_ == 0; }

    template <class Call>
    void for_each(Call call) {
        const Calling calling(*this);
        for (const auto& [number, slot] : slots_) visit(slot, false, call);
    }
    template <class Call>
    void for_each_active(Call call) {
        const Calling calling(*this);
        for (const auto& [number, slot] : slots_) visit(slot, true, call);
    }
    /// Those with one of these selections, and those without a selection.
    template <class Call>
    void for_each_active_of(const ViewSet& selections, Call call) {
        const Calling calling(*this);
        const auto visit_number = [&](Number number) {
            const auto it = slots_.find(slot_of(number));
            if (it != slots_.end()) visit(it->second, true, call);
        };
        visit_number(std::nullopt);
        selections.for_each(visit_number);
    }
    template <class Predicate>
    bool any_of(Predicate predicate) const {
        return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
            return std::any_of(slot.second.begin(), slot.second.end(),
                               [&](const Subscriber& s) { return s.view && predicate(*s.view); });
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
            if (--subscribers_.calling_ == 0) subscribers_.close_gaps();
        }

     private:
        Subscribers& subscribers_;
    };

    static std::size_t slot_of(Number selection) noexcept { return selection ? *selection + 1 : 0; }
    void close_gaps() {
        for (const std::size_t number : gaps_) {
            const auto slot = slots_.find(number);
            if (slot == slots_.end()) continue;  // two views of it were removed
            std::erase_if(slot->second, [](const Subscriber& known) { return !known.view; });
            if (slot->second.empty()) slots_.erase(slot);
        }
        gaps_.clear();
    }
    Subscriber* find(const View& view, std::size_t number) {
        const auto slot = slots_.find(number);
        if (slot == slots_.end()) return nullptr;
        const auto it = std::find_if(slot->second.begin(), slot->second.end(),
                                     [&](const Subscriber& known) { return known.view == &view; });
        return it == slot->second.end() ? nullptr : &*it;
    }
    template <class Call>
    static void visit(const Slot& slot, bool active_only, Call& call) {
        for (std::size_t i = 0; i < slot.size(); ++i) {  // a call may add views
            const Subscriber subscriber = slot[i];
            if (subscriber.view && (subscriber.active || !active_only)) call(*subscriber.view);
        }
    }

    // Those with views only: the selections of a kind may belong to thousands of watches. The first
    // one is for views without a selection. Calls may add slots, but erase none.
    std::map<std::size_t, Slot> slots_;
    std::size_t count_ = 0;
    std::size_t calling_ = 0;
    std::vector<std::size_t> gaps_;  // slots with removed views
};

}  // namespace k8s_sd::inline v0::detail
