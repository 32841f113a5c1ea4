#pragma once

namespace k8s_sd::test {

/// While it is true, operator new throws in this thread. For the integration tests.
inline thread_local bool allocations_fail = false;

/// So many allocations succeed in this thread, the others throw; below 0: all succeed.
inline thread_local long allocations_left = -1;

}  // namespace k8s_sd::test
