#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <atomic>

namespace k8s_sd::inline v0::detail {

/// One `T` per process: a child forked by the host gets its own. The child has none of the
/// parent's threads, and its copy of a mutex may stay locked. Never destroyed. Thread-safe.
template <class T>
class PerProcess {
 public:
    PerProcess() : present_(new Owned) {}
    PerProcess(const PerProcess&) = delete;
    PerProcess& operator=(const PerProcess&) = delete;

    T& get() {
        Owned* present = present_;
        if (present->process == ::getpid()) return present->value;
        auto* const fresh = new Owned;
        if (present_.compare_exchange_strong(present, fresh)) return fresh->value;
        delete fresh;
        return present->value;
    }

 private:
    struct Owned {
        const pid_t process = ::getpid();
        T value{};
    };

    std::atomic<Owned*> present_;
};

}  // namespace k8s_sd::inline v0::detail
