#pragma once

#include <cstddef>

namespace k8s_sd::test {

/// The number of calls to the global operators new of this program.
std::size_t counted_allocations() noexcept;

}  // namespace k8s_sd::test
