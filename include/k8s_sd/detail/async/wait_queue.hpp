#pragma once

#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// Requests that wait in order, each for one call of its handler. Thread-safe.
///
/// Handlers are posted to the given executor. They may call or destroy anything. Requests without
/// memory for that wait again, before all others.
/// \tparam Grant  what a handler receives
template <class... Grant>
class WaitQueue final : public std::enable_shared_from_this<WaitQueue<Grant...>> {
    struct Request;
    using Requests = std::list<std::shared_ptr<Request>>;

 public:
    using Handler = std::function<void(Grant...)>;

    /// Owns a request. Its destruction withdraws the request, and destroys a grant that has not
    /// reached the handler. If the handle is destroyed on the handler's executor, the handler is
    /// not called afterwards.
    class Handle {
     public:
        Handle() = default;
        Handle(Handle&&) noexcept = default;
        Handle& operator=(Handle&& other) noexcept {
            const Handle before = std::move(*this);
            queue_ = std::move(other.queue_);
            request_ = std::move(other.request_);
            return *this;
        }
        ~Handle() { reset(); }
        void reset() noexcept {
            const auto request = std::exchange(request_, nullptr);
            const auto queue = std::exchange(queue_, nullptr);
            if (request) queue->withdraw(*request);
        }

     private:
        friend class WaitQueue;
        Handle(std::shared_ptr<WaitQueue> queue, std::shared_ptr<Request> request)
            : queue_(std::move(queue)), request_(std::move(request)) {}

        std::shared_ptr<WaitQueue> queue_;
        std::shared_ptr<Request> request_;
    };

    /// \param waiting  counts the requests; may be null
    explicit WaitQueue(std::shared_ptr<Metrics::Gauge> waiting = nullptr)
        : waiting_(std::move(waiting)) {}

    [[nodiscard]] Handle add(asio::any_io_executor executor, Handler handler) {
        const auto request = std::make_shared<Request>();
        request->executor = std::move(executor);
        request->handler = std::move(handler);
        const std::lock_guard lock(mutex_);
        request->position = requests_.insert(requests_.end(), request);
        request->queued = true;
        if (waiting_) ++*waiting_;
        return {this->shared_from_this(), request};
    }
    bool empty() const {
        const std::lock_guard lock(mutex_);
        return requests_.empty();
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return requests_.size();
    }
    /// The executor of the first request; empty without one.
    asio::any_io_executor first_executor() const noexcept {
        const std::lock_guard lock(mutex_);
        return requests_.empty() ? asio::any_io_executor() : requests_.front()->executor;
    }
    /// Grants the first request; without one, destroys the grant.
    /// \throws std::bad_alloc; the grant is destroyed, and the request is still the first one
    void grant_first(Grant... grant) {
        Requests first;
        {
            const std::lock_guard lock(mutex_);
            if (requests_.empty()) return;
            requests_.front()->grant.emplace(std::move(grant)...);
            dequeue(*requests_.front(), first);
        }
        post(first);
    }
    /// Grants all requests.
    /// \throws std::bad_alloc; the remaining requests still wait
    void grant_all() requires(sizeof...(Grant) == 0) {
        Requests all;
        {
            const std::lock_guard lock(mutex_);
            while (!requests_.empty()) {
                requests_.front()->grant.emplace();
                dequeue(*requests_.front(), all);
            }
        }
        while (!all.empty()) post(all);
    }

 private:
    /// All members but the executor are guarded by the mutex. They are destroyed without it.
    struct Request {
        asio::any_io_executor executor;
        Handler handler;
        std::optional<std::tuple<Grant...>> grant;
        typename Requests::iterator position;
        bool queued = false;
    };

    /// Moves the request to the end of another list. Requires the mutex.
    void dequeue(Request& request, Requests& to) noexcept {
        to.splice(to.end(), requests_, request.position);
        request.queued = false;
        if (waiting_) --*waiting_;
    }
    /// Posts the first one and removes it.
    void post(Requests& granted) {
        try {
            asio::post(granted.front()->executor,
                       [self = this->shared_from_this(), request = granted.front()] {
                           self->run(*request);
                       });
        } catch (...) {
            while (!granted.empty()) take_back(granted);
            throw;
        }
        granted.pop_front();
    }
    /// The last one waits again.
    void take_back(Requests& granted) noexcept {
        const std::shared_ptr<Request> last = granted.back();
        std::optional<std::tuple<Grant...>> grant;
        const std::lock_guard lock(mutex_);
        grant.swap(last->grant);
        if (!last->handler) return granted.pop_back();  // withdrawn
        requests_.splice(requests_.begin(), granted, last->position);
        last->queued = true;
        if (waiting_) ++*waiting_;
    }
    void run(Request& request) {
        Handler handler;
        std::optional<std::tuple<Grant...>> grant;
        {
            const std::lock_guard lock(mutex_);
            handler.swap(request.handler);
            grant.swap(request.grant);
        }
        if (handler) std::apply(handler, std::move(*grant));
    }
    void withdraw(Request& request) noexcept {
        Handler handler;
        std::optional<std::tuple<Grant...>> grant;
        Requests withdrawn;
        const std::lock_guard lock(mutex_);
        handler.swap(request.handler);
        grant.swap(request.grant);
        if (request.queued) dequeue(request, withdrawn);
    }

    const std::shared_ptr<Metrics::Gauge> waiting_;

    mutable std::mutex mutex_;  ///< never held during calls, destruction or posting of handlers
    Requests requests_;
};

}  // namespace k8s_sd::inline v0::detail
