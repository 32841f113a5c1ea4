#include "k8s_sd/detail/net/blocking_threads.hpp"

#include <pthread.h>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace k8s_sd::inline v0::detail {

bool BlockingThreads::run(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(call));
    if (threads_ >= most_threads_ || start_thread() || threads_ > 0) return true;
    waiting_.pop_back();
    return false;
}

bool BlockingThreads::start_thread() {
    // Signals are for the host's threads.
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    bool started = true;
    try {
        std::thread([this] { work(); }).detach();
        ++threads_;
    } catch (const std::system_error&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return started;
}

void BlockingThreads::work() noexcept {
    for (;;) {
        std::function<void()> call;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) {
                --threads_;
                return;
            }
            call = std::move(waiting_.front());
            waiting_.pop_front();
        }
        try {
            call();
        } catch (...) {  // NOLINT(bugprone-empty-catch): nobody could be told
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
