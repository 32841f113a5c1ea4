#include "k8s_sd/detail/net/lookups.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Outlives the context while a resolver has not answered. The mutex is held as long as anything of
/// the context is used, because shutdown() takes it as well.
class Lookups::State : public std::enable_shared_from_this<State> {
 public:
    Ticket async_resolve(const asio::any_io_executor& executor,
                         const std::shared_ptr<Resolver>& resolver, const std::string& host,
                         Handler handler) {
        std::unique_lock lock(mutex_);
        const std::uint64_t waiter = ++numbers_;
        auto flight = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& f) {
            return f.resolver == resolver && f.host == host;
        });
        const bool first = flight == flights_.end();
        if (first) flight = flights_.insert(flight, Flight{++numbers_, resolver, host, {}});
        flight->waiters.push_back(
            {waiter, asio::prefer(executor, asio::execution::outstanding_work.tracked),
             std::move(handler)});
        const std::uint64_t number = flight->number;
        lock.unlock();
        if (first) ask(*resolver, host, number);
        return {weak_from_this(), waiter};
    }

    void forget(std::uint64_t number) noexcept {
        std::vector<Waiter> gone;
        std::vector<Flight> abandoned;
        const std::lock_guard lock(mutex_);
        for (auto flight = flights_.begin(); flight != flights_.end(); ++flight) {
            auto& waiters = flight->waiters;
            const auto waiter = std::find_if(waiters.begin(), waiters.end(),
                                             [&](const Waiter& w) { return w.number == number; });
            if (waiter == waiters.end()) continue;
            gone.push_back(std::move(*waiter));
            waiters.erase(waiter);
            if (!waiters.empty()) return;
            abandoned.push_back(std::move(*flight));
            flights_.erase(flight);
            return;
        }
    }

    void forget_all() {
        std::vector<Flight> gone;  // goes last: handlers own streams, which come back to forget()
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
        std::shared_ptr<Resolver> resolver;
        std::string host;
        std::vector<Waiter> waiters;
    };

    void ask(Resolver& resolver, const std::string& host, std::uint64_t number) {
        std::string problem = "unknown exception";
        try {
            return resolver.async_resolve(
                host, [weak = weak_from_this(), number](error_code ec,
                                                        std::vector<asio::ip::address> addresses) {
                    if (const auto self = weak.lock()) self->answer(number, ec, {}, addresses);
                });
        } catch (const std::exception& error) {
            problem = error.what();
        } catch (...) {
        }
        answer(number, errc::connector_failed, problem, {});
    }

    void answer(std::uint64_t number, error_code ec, const std::string& problem,
                const std::vector<asio::ip::address>& addresses) {
        Flight done{};
        const std::lock_guard lock(mutex_);
        const auto flight = std::find_if(flights_.begin(), flights_.end(),
                                         [&](const Flight& f) { return f.number == number; });
        if (flight == flights_.end()) return;
        done = std::move(*flight);
        flights_.erase(flight);
        for (Waiter& waiter : done.waiters) {
            asio::post(waiter.executor, [handler = std::move(waiter.handler), ec, problem,
                                         addresses] { handler(ec, problem, addresses); });
        }
        done.waiters.clear();
    }

    std::mutex mutex_;
    std::uint64_t numbers_ = 0;
    std::vector<Flight> flights_;
};

asio::execution_context::id Lookups::id;

Lookups::Lookups(asio::execution_context& context)
    : asio::execution_context::service(context), state_(std::make_shared<State>()) {}

Lookups::Ticket Lookups::async_resolve(const asio::any_io_executor& executor,
                                       const std::shared_ptr<Resolver>& resolver,
                                       const std::string& host, Handler handler) {
    auto& context = asio::query(executor, asio::execution::context);
    const auto state = asio::use_service<Lookups>(context).state_;
    return state->async_resolve(executor, resolver, host, std::move(handler));
}

void Lookups::shutdown() { state_->forget_all(); }

void Lookups::Ticket::cancel() noexcept {
    if (const auto state = state_.lock()) state->forget(number_);
}

}  // namespace k8s_sd::inline v0::detail
