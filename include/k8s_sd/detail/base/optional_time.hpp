#pragma once

#include "k8s_sd/time.hpp"

#include <optional>

namespace k8s_sd::inline v0::detail {

/// Like std::optional<TimePoint>, in half the memory, for members of objects that exist thousands
/// of times. TimePoint::min() stands for an absent time.
class OptionalTime {
 public:
    constexpr OptionalTime() noexcept = default;
    constexpr OptionalTime(std::nullopt_t) noexcept {}
    constexpr OptionalTime(TimePoint time) noexcept : time_(time) {}

    constexpr bool has_value() const noexcept { return time_ != TimePoint::min(); }
    constexpr explicit operator bool() const noexcept { return has_value(); }
    constexpr TimePoint operator*() const noexcept { return time_; }
    constexpr TimePoint value_or(TimePoint other) const noexcept {
        return has_value() ? time_ : other;
    }
    constexpr void reset() noexcept { time_ = TimePoint::min(); }
    constexpr operator std::optional<TimePoint>() const noexcept {
        return has_value() ? std::optional(time_) : std::nullopt;
    }

 private:
    TimePoint time_ = TimePoint::min();
};

}  // namespace k8s_sd::inline v0::detail
