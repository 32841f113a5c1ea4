#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <sys/types.h>
#include <unistd.h>
#include <atomic>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A static object never destroyed by exit(): detached threads of the library still run while
/// exit() destroys the others. tests/package/headers/check_statics.py finds all other statics.
template <class T>
class Immortal {
 public:
    template <class... Arguments>
    explicit Immortal(Arguments&&... arguments)
        : object_(*new T(std::forward<Arguments>(arguments)...)) {}
    Immortal(const Immortal&) = delete;
    Immortal& operator=(const Immortal&) = delete;

    T& operator*() const noexcept { return object_; }
    T* operator->() const noexcept { return &object_; }

 private:
    T& object_;
};

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

struct ProcessEnd;

/// From now on exit() first waits until no DetachedThread is busy, at most half a second. exit()
/// runs in reverse order: it destroys statics made before this call after the wait, and statics
/// made later before it.
void wait_at_exit();

/// Marks a thread that is never joined. exit() waits while the thread is busy, and then stops it
/// for good, so that it uses no static object destroyed by exit().
class DetachedThread {
 public:
    DetachedThread() noexcept;
    ~DetachedThread();
    DetachedThread(const DetachedThread&) = delete;
    DetachedThread& operator=(const DetachedThread&) = delete;
};

/// Scope of a call without a time limit, such as file access on a network file system. exit() does
/// not wait for it; a detached thread does not leave the scope once exit() has begun. Within the
/// scope the thread must use no object destroyed by exit(). Does nothing in threads of the host.
class K8S_SD_EXPORT BlockingCall {
 public:
    BlockingCall() noexcept;
    ~BlockingCall();
    BlockingCall(const BlockingCall&) = delete;
    BlockingCall& operator=(const BlockingCall&) = delete;

 private:
    ProcessEnd* const end_;  // null: in a thread of the host, or nested in another blocking call
};

/// A checkpoint for long computations. Once exit() has begun, it does not return in a detached
/// thread. Does nothing in threads of the host.
K8S_SD_EXPORT void halt_at_exit() noexcept;

}  // namespace k8s_sd::inline v0::detail
