#pragma once

namespace k8s_sd_c {

/// Makes the function-local static tables of the core. A thread of the library that was just making
/// one at the moment of fork() would leave it half made in the child, where every use would wait
/// without end. Call it before the first thread starts.
void make_tables();

}  // namespace k8s_sd_c
