#pragma once

#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/async/wait_queue.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A limited number of permits, granted in the order of the requests, to urgent ones first.
/// Thread-safe.
///
/// Handlers are posted to the given executor. They may call or destroy anything. Without memory for
/// that, requests wait until the next one is made, a permit returns or a pause is over.
class PermitQueue final : public std::enable_shared_from_this<PermitQueue> {
 public:
    enum class Urgency : bool { normal, urgent };

    struct Limit {
        std::size_t permits = 0;   ///< zero: no limit
        std::size_t reserved = 0;  ///< of these, for urgent requests only
    };
    struct Gauges {
        std::shared_ptr<Metrics::Gauge> granted;  ///< null: not counted
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

    using Queue = WaitQueue<Permit>;
    using Handler = Queue::Handler;
    /// A permit granted to a withdrawn request goes to the next one.
    using RequestHandle = Queue::Handle;

    /// \param clock  for the pause without memory
    PermitQueue(Limit, const Gauges&, std::shared_ptr<Clock> clock = system_clock());

    /// Grants a permit once one is available.
    [[nodiscard]] RequestHandle async_permit(asio::any_io_executor, Handler,
                                             Urgency = Urgency::normal);
    /// A permit if one is available and no earlier request waits; else an empty one.
    Permit try_permit(Urgency = Urgency::normal);

    std::size_t granted() const;
    std::size_t waiting() const { return urgent_->size() + normal_->size(); }

 private:
    bool has_permit(Urgency) const noexcept;
    Queue* next_queue() const;
    Permit grant();
    void hand_out() noexcept;
    void hand_out_later(const Queue&) noexcept;
    void give_back() noexcept;

    const Limit limit_;
    const std::shared_ptr<Metrics::Gauge> granted_gauge_;
    const std::shared_ptr<Queue> urgent_;
    const std::shared_ptr<Queue> normal_;
    Reminder reminder_;

    mutable std::mutex mutex_;  ///< never held during the destruction of permits
    std::size_t granted_ = 0;
    bool handing_out_ = false;
};

}  // namespace k8s_sd::inline v0::detail
