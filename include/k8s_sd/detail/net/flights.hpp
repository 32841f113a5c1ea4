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
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// Single-flight calls shared by several waiters: a lookup, a file read. A call holds a weak
/// reference, because it may end at any time: an execution context owns this object through a
/// service, and the service calls clear() at shutdown. Afterwards no handler is called. Waiters
/// count as work of the context, so run() does not return. Thread-safe.
///
/// A call may never end, so abandoned calls still count. The first result of equal calls serves all
/// waiters.
/// \tparam Call  `is(other)` compares calls
template <class Call, class... Result>
class Flights : public std::enable_shared_from_this<Flights<Call, Result...>> {
 public:
    using Handler = std::function<void(Result...)>;
    /// A waiter's handle.
    class Ticket {
     public:
        Ticket() = default;
        Ticket(std::weak_ptr<Flights> flights, std::uint64_t number)
            : flights_(std::move(flights)), number_(number) {}
        /// Drops the handler, unless it was posted already.
        void cancel() noexcept {
            if (const auto flights = flights_.lock()) flights->leave(number_);
        }

     private:
        std::weak_ptr<Flights> flights_;
        std::uint64_t number_ = 0;
    };
    struct Seat {
        Ticket ticket;
        std::uint64_t flight;
        bool first;  ///< the caller must start the call and pass its result to land()
        Call call;   ///< as given by the first caller
    };

    /// \param max_calls  maximum number of equal pending calls; a further one starts only after
    /// all earlier ones were abandoned
    explicit Flights(unsigned max_calls) : max_calls_(max_calls) {}

    /// Posts the handler to `executor`.
    Seat join(Call call, const asio::any_io_executor& executor, Handler handler) {
        const std::lock_guard lock(mutex_);
        auto flight = std::find_if(flights_.begin(), flights_.end(),
                                   [&](const Flight& f) { return f.call.is(call); });
        if (flight == flights_.end()) {
            flight = flights_.insert(flight, Flight{++numbers_, std::move(call), 0, {}});
        }
        const bool first = flight->waiters.empty() && flight->calls < max_calls_;
        if (first) ++flight->calls;
        const std::uint64_t number = ++numbers_;
        flight->waiters.push_back(
            {number, asio::prefer(executor, asio::execution::outstanding_work.tracked),
             std::move(handler)});
        return {Ticket(this->weak_from_this(), number), flight->number, first, flight->call};
    }

    void land(std::uint64_t number, const Result&... result) {
        std::vector<Waiter> waiters;
        std::vector<Flight> done;
        const std::lock_guard lock(mutex_);
        const auto flight = std::find_if(flights_.begin(), flights_.end(),
                                         [&](const Flight& f) { return f.number == number; });
        if (flight == flights_.end()) return;
        waiters.swap(flight->waiters);
        if (--flight->calls == 0) {
            done.push_back(std::move(*flight));
            flights_.erase(flight);
        }
        for (Waiter& waiter : waiters) {
            asio::post(waiter.executor, [handler = std::move(waiter.handler), ... copy = result] {
                handler(copy...);
            });
        }
        waiters.clear();
    }

    void clear() {
        std::vector<Flight> gone;  // destroyed last: handlers own objects with calls to leave()
        const std::lock_guard lock(mutex_);
        gone.swap(flights_);
    }

 private:
    struct Waiter {
        std::uint64_t number;
        asio::any_io_executor executor;  ///< tracked: work of its context
        Handler handler;
    };
    struct Flight {
        std::uint64_t number;
        Call call;
        unsigned calls;  ///< pending
        std::vector<Waiter> waiters;
    };

    void leave(std::uint64_t number) noexcept {
        std::vector<Waiter> gone;
        const std::lock_guard lock(mutex_);
        for (Flight& flight : flights_) {
            auto& waiters = flight.waiters;
            const auto waiter = std::find_if(waiters.begin(), waiters.end(),
                                             [&](const Waiter& w) { return w.number == number; });
            if (waiter == waiters.end()) continue;
            gone.push_back(std::move(*waiter));
            waiters.erase(waiter);
            forget_lonely(flight);
            return;
        }
    }

    /// Drops an abandoned call not equal even to itself: it can have no further waiters.
    void forget_lonely(Flight& flight) noexcept {
        if (!flight.waiters.empty() || flight.call.is(flight.call)) return;
        std::swap(flight, flights_.back());
        flights_.pop_back();
    }

    const unsigned max_calls_;
    // Also held during any use of the context, because clear() locks it, too.
    std::mutex mutex_;
    std::uint64_t numbers_ = 0;
    std::vector<Flight> flights_;
};

}  // namespace k8s_sd::inline v0::detail
