#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

namespace k8s_sd::test {

/// Sanitizers look for faults of memory and threads in code that each seed, position or value runs,
/// and run it many times slower. They try a part of them; builds without sanitizers try all.
#if defined(K8S_SD_ADDRESS_SANITIZER) || defined(K8S_SD_THREAD_SANITIZER)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// The number of rounds: with a sanitizer a tenth, five at least.
template <std::integral Number>
constexpr Number rounds(Number all) {
    return is_sanitized ? std::min<Number>(all, std::max<Number>(all / 10, 5)) : all;
}

/// The distance between two positions or values that are tried: 1 without sanitizers.
constexpr std::size_t step_of(std::size_t sanitized_step) {
    return is_sanitized ? sanitized_step : 1;
}

}  // namespace k8s_sd::test
