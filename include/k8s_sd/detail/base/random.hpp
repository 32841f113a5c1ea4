#pragma once

#include <cstdint>
#include <limits>

namespace k8s_sd::inline v0::detail {

/// SplitMix64 (Steele, Lea, Flood 2014). Jitter needs no better generator, and each watch has two:
/// those of the standard library would take 2.5 KB each.
class Random {
 public:
    using result_type = std::uint64_t;

    /// Seeds are mixed, so that similar ones yield unrelated numbers.
    explicit Random(std::uint64_t seed) noexcept : state_(seed) { state_ = (*this)(); }
    static constexpr result_type min() noexcept { return 0; }
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    result_type operator()() noexcept {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

 private:
    std::uint64_t state_;
};

}  // namespace k8s_sd::inline v0::detail
