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
/// Handlers are posted to the given executor. They may call or destroy anything.
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
    /// Grants the first request; without one, destroys the grant.
    void grant_first(Grant... grant) {
        std::shared_ptr<Request> first;
        {
            const std::lock_guard lock(mutex_);
            if (requests_.empty()) return;
            first = requests_.front();
            dequeue(*first);
            first->grant.emplace(std::move(grant)...);
        }
        post(first);
    }
    /// Grants all requests.
    void grant_all() requires(sizeof...(Grant) == 0) {
        Requests all;
        {
            const std::lock_guard lock(mutex_);
            all.swap(requests_);
            for (const auto& request : all) {
                request->queued = false;
                request->grant.emplace();
                if (waiting_) --*waiting_;
            }
        }
        for (const auto& request : all) post(request);
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

    /// Requires the mutex, and another owner of the request.
    void dequeue(Request& request) noexcept {
        requests_.erase(request.position);
        request.queued = false;
        if (waiting_) --*waiting_;
    }
    void post(const std::shared_ptr<Request>& request) {
        asio::post(request->executor,
                   [self = this->shared_from_this(), request] { self->run(*request); });
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
        const std::lock_guard lock(mutex_);
        handler.swap(request.handler);
        grant.swap(request.grant);
        if (request.queued) dequeue(request);
    }

    const std::shared_ptr<Metrics::Gauge> waiting_;

    mutable std::mutex mutex_;  ///< never held during calls, destruction or posting of handlers
    Requests requests_;
};

}  // namespace k8s_sd::inline v0::detail
