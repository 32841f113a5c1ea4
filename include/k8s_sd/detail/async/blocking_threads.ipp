#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/base/blocked_signals.hpp"
#include "k8s_sd/detail/base/process_end.hpp"

#include <openssl/crypto.h>
#include <exception>
#include <thread>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Creates statics of other libraries before the exit handler is registered, so they are destroyed
/// after its wait.
bool prepare_exit() {
    // OpenSSL registers its own exit handler, but not if nothing is initialized.
    OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
    wait_at_exit();
    return true;
}

/// \returns false if memory is exhausted
bool is_exit_prepared() noexcept {
    try {
        static const bool is_prepared = prepare_exit();
        return is_prepared;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

bool BlockingThreads::run(std::function<void()> call) {
    if (!is_exit_prepared()) return false;
    State& s = state_.get();
    std::function<void()> refused;  // destroyed without the mutex: it may run another call
    const std::lock_guard lock(s.mutex);
    if (s.waiting.size() >= max_waiting_) return false;
    s.waiting.push_back(std::move(call));
    if (s.threads >= max_threads_ || start_thread(s) || s.threads > 0) return true;
    refused.swap(s.waiting.back());
    s.waiting.pop_back();
    return false;
}

bool BlockingThreads::start_thread(State& s) {
    const BlockedSignals blocked;
    try {
        std::thread([&s] { work(s); }).detach();
    } catch (...) {  // no thread, or out of memory
        return false;
    }
    ++s.threads;
    return true;
}

void BlockingThreads::work(State& s) noexcept {
    const DetachedThread detached;
    for (;;) {
        halt_at_exit();
        std::function<void()> call;
        {
            const std::lock_guard lock(s.mutex);
            if (s.waiting.empty()) {
                --s.threads;
                return;
            }
            call = std::move(s.waiting.front());
            s.waiting.pop_front();
        }
        try {
            call();
        } catch (...) {  // NOLINT(bugprone-empty-catch): no recipient
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
