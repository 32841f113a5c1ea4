#pragma once

namespace k8s_sd::test {

/// While it is true, operator new throws in this thread. For the integration tests.
inline thread_local bool allocations_fail = false;

}  // namespace k8s_sd::test
