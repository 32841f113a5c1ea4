#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>

namespace k8s_sd::inline v0::detail {

/// How long the list may take that a watch begins with. A server that does not know such watches
/// sends its objects, or nothing, then perhaps their changes, and never says that the list is
/// complete. Its objects in a LIST are the better choice then, so the limits are narrow: a silence,
/// and half a minute for all, to which each object adds a little. Objects that are created while
/// the watch is open come one by one, those of a list do not.
class InitialEventsPatience {
 public:
    explicit InitialEventsPatience(const WatchOptions& options)
        : response_timeout_(options.response_timeout) {}

    /// The head of the answer is there.
    /// \param hasty  another form of the list may be faster
    void begin(TimePoint now, bool hasty = true) noexcept {
        quiet_ = hasty ? hasty_quiet : most_quiet;
        if (response_timeout_ > Duration{}) quiet_ = std::min(quiet_, response_timeout_);
        began_ = last_ = now;
        objects_ = 0;
        changed_ = false;
    }
    /// An object of the list has come. Once there are changes it may as well be a new one.
    void on_object(TimePoint now) noexcept {
        if (changed_) return;
        last_ = now;
        ++objects_;
    }
    /// An object has changed, or is gone. The list itself was complete before, and its end follows
    /// as soon as the server knows that it has nothing older left.
    void on_change(TimePoint now) noexcept {
        on_object(now);
        changed_ = true;
    }
    /// Nothing could be read for this time: the host was busy.
    void on_blocked(Duration time) noexcept {
        began_ += time;
        last_ += time;
    }
    /// When there must have been another object, or the end of the list.
    TimePoint deadline() const noexcept {
        return std::min({last_ + quiet_, began_ + base + objects_ * for_each, began_ + longest});
    }

 private:
    // An API server looks every second whether the list is complete.
    static constexpr Duration hasty_quiet = std::chrono::seconds(10);
    static constexpr Duration most_quiet = std::chrono::seconds(30);
    static constexpr Duration base = std::chrono::seconds(30);
    static constexpr Duration for_each = std::chrono::milliseconds(100);
    static constexpr Duration longest = std::chrono::minutes(10);

    Duration response_timeout_;
    Duration quiet_ = hasty_quiet;
    TimePoint began_{};
    TimePoint last_{};
    int objects_ = 0;
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
