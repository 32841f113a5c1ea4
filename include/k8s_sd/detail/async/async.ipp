// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/async/blocking_threads.ipp"
#include "k8s_sd/detail/async/child_process.ipp"
#include "k8s_sd/detail/async/delivery.ipp"
#include "k8s_sd/detail/async/file_reader.ipp"
#include "k8s_sd/detail/async/late_answers.ipp"
#include "k8s_sd/detail/async/run_state.ipp"
#include "k8s_sd/detail/async/sync_waits.ipp"
#include "k8s_sd/detail/async/system_environment.ipp"
