#pragma once

#include "k8s_sd/role.hpp"

#include <array>

namespace k8s_sd::test {

inline constexpr auto prom = LabelDialect::prometheus;
inline constexpr auto vm = LabelDialect::victoriametrics;
inline constexpr std::array dialects{prom, vm};

}  // namespace k8s_sd::test
