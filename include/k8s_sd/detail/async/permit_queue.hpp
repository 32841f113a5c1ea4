#pragma once

#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// A limited number of permits, granted in the order of the requests, to urgent ones first.
/// Thread-safe.
///
/// Handlers are posted to the given executor. They may call or destroy anything.
class PermitQueue final : public std::enable_shared_from_this<PermitQueue> {
    struct Request;
    using Requests = std::list<std::shared_ptr<Request>>;

 public:
    enum class Urgency : bool { normal, urgent };

    struct Limit {
        std::size_t permits = 0;   ///< zero: no limit
        std::size_t reserved = 0;  ///< of these, for urgent requests only
    };
    struct Gauges {
        std::shared_ptr<Metrics::Gauge> granted;
        std::shared_ptr<Metrics::Gauge> waiting;  ///< null: no request waits
    };

    /// Returned on destruction, on any thread.
    class Permit {
     public:
        Permit() = default;
        Permit(Permit&&) noexcept = default;
        Permit& operator=(Permit&& other) noexcept;
        ~Permit() { reset(); }
        void reset() noexcept;
        explicit operator bool() const noexcept { return queue_ != nullptr; }

     private:
        friend class PermitQueue;
        explicit Permit(std::shared_ptr<PermitQueue> queue) : queue_(std::move(queue)) {}

        std::shared_ptr<PermitQueue> queue_;  ///< null: no permit
    };

    /// Owns a request. Its destruction withdraws the request; a permit granted meanwhile goes to
    /// the next request. If the handle is destroyed on the handler's executor, the handler is not
    /// called afterwards.
    class RequestHandle {
     public:
        RequestHandle() = default;
        RequestHandle(RequestHandle&&) noexcept = default;
        RequestHandle& operator=(RequestHandle&& other) noexcept;
        ~RequestHandle() { reset(); }
        void reset() noexcept;

     private:
        friend class PermitQueue;
        RequestHandle(std::shared_ptr<PermitQueue> queue, std::shared_ptr<Request> request)
            : queue_(std::move(queue)), request_(std::move(request)) {}

        std::shared_ptr<PermitQueue> queue_;
        std::shared_ptr<Request> request_;
    };

    using Handler = std::function<void(Permit)>;

    PermitQueue(Limit limit, Gauges gauges) : limit_(limit), gauges_(std::move(gauges)) {}

    /// Grants a permit once one is available.
    [[nodiscard]] RequestHandle async_permit(asio::any_io_executor, Handler,
                                             Urgency = Urgency::normal);
    /// A permit if one is available and no earlier request waits; else an empty one.
    Permit try_permit(Urgency = Urgency::normal);

 private:
    bool has_permit(Urgency) const noexcept;
    Requests* next_queue() noexcept;
    void hand_out() noexcept;
    void give_back() noexcept;
    void post(const std::shared_ptr<Request>&);
    void run(Request&);
    void withdraw(Request&) noexcept;
    void count_waiting(int change) noexcept;

    const Limit limit_;
    const Gauges gauges_;

    std::mutex mutex_;  ///< never held during calls, destruction or posting of foreign handlers
    std::size_t granted_ = 0;
    Requests urgent_;
    Requests normal_;
    bool handing_out_ = false;
};

}  // namespace k8s_sd::inline v0::detail
