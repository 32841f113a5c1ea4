#include "k8s_sd/detail/async/sync_waits.hpp"

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
    std::unique_lock lock(mutex_);
    if (result_ != error_code()) result_ = ec;
    const error_code result = *result_;
    std::reverse(waits_.begin(), waits_.end());
    while (!waits_.empty()) {
        // Once there is a result, no wait is added, so that the place stays free.
        const std::shared_ptr<Wait> wait = std::move(waits_.back());
        waits_.pop_back();
        lock.unlock();
        try {
            wait->operation->post(
                [wait, result] { Operation<>::complete_here(std::move(wait->operation), result); });
        } catch (...) {
            lock.lock();
            waits_.push_back(wait);
            throw;
        }
        lock.lock();
    }
}

void SyncWaits::stop() noexcept {
    try {
        finish(asio::error::operation_aborted);
    } catch (...) {
        // Without memory; the waits end with their contexts.
    }
}

std::unique_ptr<Operation<>> SyncWaits::take(const Wait& wait) {
    const std::lock_guard lock(mutex_);
    const auto is_it = [&](const auto& other) { return other.get() == &wait; };
    const auto it = std::find_if(waits_.begin(), waits_.end(), is_it);
    if (it == waits_.end()) return nullptr;
    const std::shared_ptr<Wait> taken = std::move(*it);
    waits_.erase(it);
    return std::move(taken->operation);
}

void SyncWaits::Wait::cancel() {
    const auto waiting = all.lock();
    auto taken = waiting ? waiting->take(*this) : nullptr;
    if (taken) Operation<>::complete(std::move(taken), asio::error::operation_aborted);
}

}  // namespace k8s_sd::inline v0::detail
