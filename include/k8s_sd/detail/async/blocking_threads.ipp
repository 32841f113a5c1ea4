#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/base/process_end.hpp"

#include <openssl/crypto.h>
#include <pthread.h>
#include <algorithm>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Blocks signals for the host's threads to handle: a new thread inherits the signal mask.
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

bool BlockingThreads::run(std::function<void()> call, const std::string& group) {
    if (!is_exit_prepared()) return false;
    State& s = state_.get();
    Call refused;  // destroyed without the mutex: it may run another call
    const std::lock_guard lock(s.mutex);
    if (s.waiting.size() >= max_waiting_) return false;
    s.waiting.push_back({group, std::move(call)});
    // The end of a call of its group makes room, and has a thread.
    if (!has_room(s, group)) return true;
    if (s.threads >= max_threads_ || start_thread(s) || s.threads > 0) return true;
    std::swap(refused, s.waiting.back());
    s.waiting.pop_back();
    return false;
}

bool BlockingThreads::has_room(const State& s, const std::string& group) const {
    const auto found = s.running.find(group);
    return found == s.running.end() || found->second < max_of_group_;
}

bool BlockingThreads::start_thread(State& s) const {
    const BlockedSignals blocked;
    try {
        std::thread([this, &s] { work(s); }).detach();
    } catch (...) {  // no thread, or out of memory
        return false;
    }
    ++s.threads;
    return true;
}

void BlockingThreads::work(State& s) const noexcept {
    const DetachedThread detached;
    for (;;) {
        halt_at_exit();
        Call call = next_call(s);
        if (!call.function) return;
        try {
            call.function();
        } catch (...) {  // NOLINT(bugprone-empty-catch): no recipient
        }
        call.function = nullptr;
        finish(s, call.group);
    }
}

BlockingThreads::Call BlockingThreads::next_call(State& s) const {
    const std::lock_guard lock(s.mutex);
    const auto next = std::find_if(s.waiting.begin(), s.waiting.end(),
                                   [&](const Call& waiting) { return has_room(s, waiting.group); });
    if (next == s.waiting.end()) {
        --s.threads;
        return {};
    }
    Call call = std::move(*next);
    s.waiting.erase(next);
    ++s.running[call.group];
    return call;
}

void BlockingThreads::finish(State& s, const std::string& group) noexcept {
    const std::lock_guard lock(s.mutex);
    const auto running = s.running.find(group);
    if (--running->second == 0) s.running.erase(running);
}

}  // namespace k8s_sd::inline v0::detail
