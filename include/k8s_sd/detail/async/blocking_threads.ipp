#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/base/blocked_signals.hpp"
#include "k8s_sd/detail/base/process_end.hpp"

#include <openssl/crypto.h>
#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
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

bool BlockingThreads::run(std::function<void()> call, const std::string& group) try {
    if (!is_exit_prepared()) return false;
    State& s = state_.get();
    Calls calls;  // a refused call is destroyed without the mutex: it may run another call
    calls.push_back({group, std::move(call)});
    const std::lock_guard lock(s.mutex);
    if (s.waiting.size() >= max_waiting_) return false;
    s.waiting.splice(s.waiting.end(), calls);
    // The end of a call of its group makes room, and has a thread.
    if (!has_room(s, group)) return true;
    if (s.threads >= max_threads_ || start_thread(s) || s.threads > 0) return true;
    calls.splice(calls.end(), s.waiting, std::prev(s.waiting.end()));
    return false;
} catch (const std::bad_alloc&) {
    return false;
}

bool BlockingThreads::has_room(const State& s, const std::string& group) const noexcept {
    const auto running = std::count_if(s.running.begin(), s.running.end(),
                                       [&](const Call& call) { return call.group == group; });
    return static_cast<std::size_t>(running) < max_of_group_;
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
        Call* const call = next_call(s);
        if (!call) return;
        try {
            call->function();
        } catch (...) {  // NOLINT(bugprone-empty-catch): no recipient
        }
        call->function = nullptr;
        finish(s, *call);
    }
}

BlockingThreads::Call* BlockingThreads::next_call(State& s) const noexcept {
    const std::lock_guard lock(s.mutex);
    const auto next = std::find_if(s.waiting.begin(), s.waiting.end(),
                                   [&](const Call& waiting) { return has_room(s, waiting.group); });
    if (next == s.waiting.end()) {
        --s.threads;
        return nullptr;
    }
    s.running.splice(s.running.end(), s.waiting, next);
    return &s.running.back();
}

void BlockingThreads::finish(State& s, const Call& call) noexcept {
    const std::lock_guard lock(s.mutex);
    s.running.remove_if([&](const Call& other) { return &other == &call; });
}

}  // namespace k8s_sd::inline v0::detail
