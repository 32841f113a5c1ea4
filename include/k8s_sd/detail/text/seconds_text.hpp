#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string>

namespace k8s_sd::inline v0::detail {

/// "30 s", "0.5 s".
inline std::string seconds_text(Duration time) {
    using Tenths = std::chrono::duration<std::int64_t, std::deci>;
    const auto tenths = std::chrono::round<Tenths>(time).count();
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text.append(".").append(std::to_string(tenths % 10));
    return text + " s";
}

}  // namespace k8s_sd::inline v0::detail
