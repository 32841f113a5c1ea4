#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/yaml_document.hpp"
#include "k8s_sd/detail/net/blocking_threads.hpp"

#include <openssl/crypto.h>
#include <pthread.h>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Signals are for the host's threads: a thread that is started inherits what is blocked.
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

/// What calls use of other libraries is made before the wait at exit(), so that it is destroyed
/// after the wait.
bool prepare_exit() {
    // OpenSSL registers its own handler of exit(), but not where nothing is asked for.
    OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
    make_yaml_statics();
    wait_at_exit();
    return true;
}

/// False: there is no memory for it.
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
    std::function<void()> refused;  // goes without the mutex: it may own what runs another call
    const std::lock_guard lock(s.mutex);
    if (s.waiting.size() >= most_waiting_) return false;
    s.waiting.push_back(std::move(call));
    if (s.threads >= most_threads_ || start_thread(s) || s.threads > 0) return true;
    refused.swap(s.waiting.back());
    s.waiting.pop_back();
    return false;
}

bool BlockingThreads::start_thread(State& s) {
    const BlockedSignals blocked;
    try {
        std::thread([&s] { work(s); }).detach();
    } catch (...) {  // no thread, or no memory for it
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
        } catch (...) {  // NOLINT(bugprone-empty-catch): nobody could be told
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
