#include "k8s_sd/detail/async/sync_waits.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"

#include <boost/asio/error.hpp>
#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

void SyncWaits::add(Handler handler, const asio::any_io_executor& host) {
    auto wait = std::make_shared<Wait>();
    wait->all = weak_from_this();
    wait->operation = std::make_unique<Operation<>>(std::move(handler), host, std::weak_ptr(wait));
    std::unique_lock lock(mutex_);
    if (!result_) {
        waits_.push_back(std::move(wait));
        return;
    }
    const error_code result = *result_;
    lock.unlock();
    Operation<>::complete(std::move(wait->operation), result);
}

void SyncWaits::finish(error_code ec) {
    Waits waits;
    error_code result;
    {
        const std::lock_guard lock(mutex_);
        if (result_ != error_code()) result_ = ec;
        result = *result_;
        waits.swap(waits_);
    }
    FirstException problem;
    Waits failed;
    while (!waits.empty()) {
        const std::shared_ptr<Wait> wait = waits.front();
        failed.splice(failed.end(), waits, waits.begin());
        problem.catch_from([&] {
            wait->operation->post(
                [wait, result] { Operation<>::complete_here(std::move(wait->operation), result); });
            failed.pop_back();
        });
    }
    // An executor may call a handler within the post, and that may throw.
    failed.remove_if([](const auto& wait) { return wait->operation == nullptr; });
    {
        const std::lock_guard lock(mutex_);
        waits_.splice(waits_.begin(), failed);
    }
    problem.rethrow();
}

void SyncWaits::stop() noexcept {
    try {
        finish(asio::error::operation_aborted);
    } catch (...) {
        // Without memory; the waits end with their contexts.
    }
}

/// Under the mutex.
SyncWaits::Waits::iterator SyncWaits::find(const Wait& wait) noexcept {
    return std::find_if(waits_.begin(), waits_.end(),
                        [&](const auto& other) { return other.get() == &wait; });
}

/// The wait stays pending until its handler runs, so that finish() completes it if there is no
/// memory for the post.
void SyncWaits::cancel(const Wait& wait) {
    std::unique_lock lock(mutex_);
    const auto pending = find(wait);
    if (pending == waits_.end()) return;
    const Operation<>::Poster post = (*pending)->operation->poster();
    const std::shared_ptr<Wait> kept = *pending;
    lock.unlock();
    post([self = shared_from_this(), kept] { self->abort(*kept); });
}

void SyncWaits::abort(Wait& wait) {
    {
        const std::lock_guard lock(mutex_);
        const auto pending = find(wait);
        if (pending == waits_.end()) return;
        waits_.erase(pending);
    }
    Operation<>::complete_here(std::move(wait.operation), asio::error::operation_aborted);
}

void SyncWaits::Wait::cancel() {
    if (const auto waiting = all.lock()) waiting->cancel(*this);
}

}  // namespace k8s_sd::inline v0::detail
