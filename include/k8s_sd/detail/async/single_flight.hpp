#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// Single-pending calls shared by several waiters: a lookup, a file read. A call holds a weak
/// reference, because it may end at any time: an execution context owns this object through a
/// service, and the service calls clear() at shutdown. Afterwards no handler is called. Waiters
/// count as work of the context, so run() does not return. Thread-safe.
///
/// A call may never end, so abandoned calls still count. The first result of equal calls serves all
/// waiters.
/// \tparam Call  `is(other)` compares calls
template <class Call, class... Result>
class SingleFlight : public std::enable_shared_from_this<SingleFlight<Call, Result...>> {
 public:
    using Handler = std::function<void(Result...)>;
    /// A waiter's handle.
    class WaiterHandle {
     public:
        WaiterHandle() = default;
        WaiterHandle(std::weak_ptr<SingleFlight> calls, std::uint64_t number)
            : calls_(std::move(calls)), number_(number) {}
        /// Drops the handler, unless it was posted already.
        void cancel() noexcept {
            if (const auto calls = calls_.lock()) calls->leave(number_);
        }

     private:
        std::weak_ptr<SingleFlight> calls_;
        std::uint64_t number_ = 0;
    };
    struct JoinResult {
        WaiterHandle waiter;
        std::uint64_t number;
        bool first;  ///< the caller must start the call and pass its result to complete()
        Call call;   ///< as given by the first caller
    };

    /// \param max_calls  maximum number of equal pending calls; a further one starts only after
    /// all earlier ones were abandoned
    explicit SingleFlight(unsigned max_calls) : max_calls_(max_calls) {}

    /// Posts the handler to `executor`.
    JoinResult join(Call call, const asio::any_io_executor& executor, Handler handler) {
        const std::lock_guard lock(mutex_);
        auto pending = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const PendingCall& p) { return p.call.is(call); });
        if (pending == pending_.end()) {
            pending = pending_.insert(pending, PendingCall{++numbers_, std::move(call), 0, {}});
        }
        // Without a pending call, waiters are those that complete() had no memory for.
        const bool first =
            pending->calls == 0 || (pending->waiters.empty() && pending->calls < max_calls_);
        const std::uint64_t number = ++numbers_;
        JoinResult joined{WaiterHandle(this->weak_from_this(), number), pending->number, first,
                          pending->call};
        pending->waiters.push_back(
            {number, asio::prefer(executor, asio::execution::outstanding_work.tracked),
             std::move(handler)});
        if (first) ++pending->calls;  // not before: without memory, there is no call
        return joined;
    }

    /// \throws std::bad_alloc; the call has ended. One handler is lost, those behind it wait for a
    ///         later call: waiters need time limits.
    void complete(std::uint64_t number, const Result&... result) {
        std::vector<PendingCall> done;
        const std::lock_guard lock(mutex_);
        const auto pending = end_call(number);
        if (pending == pending_.end()) return;
        done.reserve(1);
        std::vector<Waiter>& waiters = pending->waiters;
        std::reverse(waiters.begin(), waiters.end());
        while (!waiters.empty()) post_last(waiters, result...);
        if (pending->calls > 0) return;
        done.push_back(std::move(*pending));
        pending_.erase(pending);
    }

    /// The call ends without a result, as without memory for one.
    void give_up(std::uint64_t number) noexcept {
        const std::lock_guard lock(mutex_);
        end_call(number);
    }

    void clear() {
        // Destroyed after the lock: handlers own objects with calls to leave().
        std::vector<PendingCall> gone;
        const std::lock_guard lock(mutex_);
        gone.swap(pending_);
    }

 private:
    struct Waiter {
        std::uint64_t number;
        asio::any_io_executor executor;  ///< tracked: work of its context
        Handler handler;
    };
    struct PendingCall {
        std::uint64_t number;
        Call call;
        unsigned calls;  ///< pending
        std::vector<Waiter> waiters;
    };

    typename std::vector<PendingCall>::iterator end_call(std::uint64_t number) noexcept {
        const auto pending = std::find_if(pending_.begin(), pending_.end(),
                                          [&](const PendingCall& p) { return p.number == number; });
        if (pending != pending_.end() && pending->calls > 0) --pending->calls;
        return pending;
    }

    /// Posts the handler of the last waiter, and removes it in any case.
    static void post_last(std::vector<Waiter>& waiters, const Result&... result) {
        Waiter last = std::move(waiters.back());
        waiters.pop_back();
        asio::post(last.executor,
                   [handler = std::move(last.handler), ... copy = result] { handler(copy...); });
    }

    void leave(std::uint64_t number) noexcept {
        std::optional<Waiter> gone;
        const std::lock_guard lock(mutex_);
        for (PendingCall& pending : pending_) {
            auto& waiters = pending.waiters;
            const auto waiter = std::find_if(waiters.begin(), waiters.end(),
                                             [&](const Waiter& w) { return w.number == number; });
            if (waiter == waiters.end()) continue;
            gone.emplace(std::move(*waiter));
            waiters.erase(waiter);
            forget_abandoned(pending);
            return;
        }
    }

    /// Drops an abandoned call not equal even to itself: it can have no further waiters.
    void forget_abandoned(PendingCall& pending) noexcept {
        if (!pending.waiters.empty() || pending.call.is(pending.call)) return;
        std::swap(pending, pending_.back());
        pending_.pop_back();
    }

    const unsigned max_calls_;
    // Also held during any use of the context, because clear() locks it, too.
    std::mutex mutex_;
    std::uint64_t numbers_ = 0;
    std::vector<PendingCall> pending_;
};

}  // namespace k8s_sd::inline v0::detail
