#pragma once

#include <cstddef>

namespace k8s_sd::test {

/// How often the global operators new of this program were called.
std::size_t counted_allocations() noexcept;

}  // namespace k8s_sd::test
