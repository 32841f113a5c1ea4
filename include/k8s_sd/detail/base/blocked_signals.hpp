#pragma once

#include <pthread.h>
#include <csignal>

namespace k8s_sd::inline v0::detail {

/// Blocks all signals of this thread during its life, so that threads started meanwhile, which
/// inherit the mask, leave signals to the threads of the host.
class BlockedSignals {
 public:
    BlockedSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &previous_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
    sigset_t previous_;
};

}  // namespace k8s_sd::inline v0::detail
