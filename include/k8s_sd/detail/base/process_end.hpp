#pragma once

#include "k8s_sd/detail/base/abi.hpp"

namespace k8s_sd::inline v0::detail {

struct ProcessEnd;

/// From now on exit() first waits until no DetachedThread is busy, at most half a second. exit()
/// works backwards: what has been made before this call is destroyed after the wait, and what is
/// made later before it.
void wait_at_exit();

/// Marks a thread that nobody joins. exit() waits for it while it is busy, and then it never runs
/// again: so it uses no static object that exit() has destroyed.
class DetachedThread {
 public:
    DetachedThread() noexcept;
    ~DetachedThread();
    DetachedThread(const DetachedThread&) = delete;
    DetachedThread& operator=(const DetachedThread&) = delete;
};

/// A call that may block for ever, such as that of a file on a network file system. exit() does not
/// wait for it; a detached thread does not return from it when exit() has begun. Meanwhile the
/// thread must use no object that exit() destroys. Does nothing in threads of the host.
class K8S_SD_EXPORT BlockingCall {
 public:
    BlockingCall() noexcept;
    ~BlockingCall();
    BlockingCall(const BlockingCall&) = delete;
    BlockingCall& operator=(const BlockingCall&) = delete;

 private:
    ProcessEnd* const end_;  // null: of a thread of the host, or within another blocking call
};

/// Called where a computation takes long. A detached thread does not return from it when exit() has
/// begun. Does nothing in threads of the host.
K8S_SD_EXPORT void halt_at_exit() noexcept;

}  // namespace k8s_sd::inline v0::detail
