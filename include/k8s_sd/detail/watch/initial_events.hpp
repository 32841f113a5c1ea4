#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>

namespace k8s_sd::inline v0::detail {

/// How long the list may take that a watch begins with. A server that does not know such watches
/// sends its objects, or nothing, then perhaps their changes, and never says that the list is
/// complete. Its objects in a LIST are the better choice then, so the limits are narrow.
class InitialEventsPatience {
 public:
    explicit InitialEventsPatience(const WatchOptions& options)
        : quiet_(options.response_timeout > Duration{} ? std::min(options.response_timeout, quiet)
                                                       : quiet) {}

    /// The head of the answer is there.
    void begin(TimePoint now) noexcept {
        began_ = last_ = now;
        changed_ = false;
    }
    /// An object of the list has come. Once there are changes it may as well be a new one.
    void on_object(TimePoint now) noexcept {
        if (!changed_) last_ = now;
    }
    /// An object has changed, or is gone. The list itself was complete before, and its end follows
    /// as soon as the server knows that it has nothing older left.
    void on_change(TimePoint now) noexcept {
        on_object(now);
        changed_ = true;
    }
    /// When there must have been another object, or the end of the list.
    TimePoint deadline() const noexcept { return std::min(last_ + quiet_, began_ + longest); }

 private:
    // An API server looks every second whether the list is complete.
    static constexpr Duration quiet = std::chrono::seconds(30);
    static constexpr Duration longest = std::chrono::minutes(10);

    Duration quiet_;
    TimePoint began_{};
    TimePoint last_{};
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
