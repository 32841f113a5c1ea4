#pragma once

#include <cstdint>
#include <limits>

namespace k8s_sd::inline v0::detail {

/// A count in one byte that stays at its maximum of 255, for counts that matter up to a few. For
/// members of objects that exist thousands of times.
class SmallCount {
 public:
    constexpr SmallCount& operator++() noexcept {
        if (count_ < std::numeric_limits<std::uint8_t>::max()) ++count_;
        return *this;
    }
    constexpr void reset() noexcept { count_ = 0; }
    constexpr operator int() const noexcept { return count_; }

 private:
    std::uint8_t count_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
