#include "k8s_sd/detail/client/server_traffic.hpp"

#include <boost/asio/post.hpp>

namespace k8s_sd::inline v0::detail {

namespace {

using Gauge = Metrics::Gauge;

/// \param waiting  null: no request waits
std::shared_ptr<PermitQueue> make_permits(PermitQueue::Limit limit,
                                          const std::shared_ptr<Metrics>& metrics,
                                          Gauge Metrics::*granted, Gauge Metrics::*waiting) {
    const auto gauge = [&](Gauge Metrics::*member) {
        return member ? std::shared_ptr<Gauge>(metrics, &((*metrics).*member)) : nullptr;
    };
    return std::make_shared<PermitQueue>(limit,
                                         PermitQueue::Gauges{gauge(granted), gauge(waiting)});
}

/// Short requests need not wait behind watches, even if the attempts of these hang.
PermitQueue::Limit limit_of_connects(std::size_t connects) { return {connects, connects / 8}; }

}  // namespace

/// All members but the executor are guarded by the mutex. Whoever moves the handler out must invoke
/// or destroy it.
struct ServerTraffic::Request {
    asio::any_io_executor executor;
    Handler handler;
    Requests* queue = nullptr;  ///< null: no longer queued
    Requests::iterator position;
};

ServerTraffic::ServerTraffic(const ServerLimits& limits, const std::shared_ptr<Metrics>& metrics)
    : list_permits(make_permits({limits.concurrent_lists}, metrics, &Metrics::lists_running,
                                &Metrics::lists_waiting)),
      watch_permits(make_permits({limits.watches}, metrics, &Metrics::open_watches, nullptr)),
      connect_permits(make_permits(limit_of_connects(limits.concurrent_connects), metrics,
                                   &Metrics::connects_running, &Metrics::connects_waiting)) {}

// --- health of the server ------------------------------------------------------------------------

void ServerTraffic::on_failure() {
    list_forms.on_outage();
    const std::lock_guard lock(mutex_);
    failed_ = true;
}

void ServerTraffic::on_success() {
    Requests recovered;
    {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(failed_, false)) return;
        ++recoveries_;
        take_all(recovering_, recovered);
    }
    for (const auto& request : recovered) post(request);
}

std::uint64_t ServerTraffic::recoveries() const {
    const std::lock_guard lock(mutex_);
    return recoveries_;
}

ServerTraffic::RequestHandle ServerTraffic::async_recovery(asio::any_io_executor executor,
                                                           Handler handler) {
    return enqueue(recovering_, std::move(executor), std::move(handler));
}

// --- trials of streamed lists --------------------------------------------------------------------

ServerTraffic::StreamTrial ServerTraffic::try_stream_trial(Kind kind) {
    const std::string_view family = ListMemory::family(kind);
    const std::lock_guard lock(mutex_);
    if (!trials_.insert(family).second) return {};
    return {shared_from_this(), family};
}

void ServerTraffic::end_trial(std::string_view family) noexcept {
    Requests woken;
    {
        const std::lock_guard lock(mutex_);
        trials_.erase(family);
        take_all(expecting_, woken);
    }
    for (const auto& request : woken) post(request);
}

ServerTraffic::RequestHandle ServerTraffic::async_stream_trial_end(asio::any_io_executor executor,
                                                                   Handler handler) {
    RequestHandle handle = enqueue(expecting_, std::move(executor), std::move(handler));
    Requests woken;
    {
        const std::lock_guard lock(mutex_);
        if (trials_.empty()) take_all(expecting_, woken);
    }
    for (const auto& request : woken) post(request);
    return handle;
}

void ServerTraffic::StreamTrial::reset() noexcept {
    if (const auto traffic = std::exchange(traffic_, nullptr)) traffic->end_trial(family_);
}

ServerTraffic::StreamTrial& ServerTraffic::StreamTrial::operator=(StreamTrial&& other) noexcept {
    const StreamTrial before = std::move(*this);
    traffic_ = std::move(other.traffic_);
    family_ = other.family_;
    return *this;
}

// --- requests ------------------------------------------------------------------------------------

ServerTraffic::RequestHandle ServerTraffic::enqueue(Requests& queue, asio::any_io_executor executor,
                                                    Handler handler) {
    const auto request = std::make_shared<Request>();
    request->executor = std::move(executor);
    request->handler = std::move(handler);
    request->queue = &queue;
    const std::lock_guard lock(mutex_);
    request->position = queue.insert(queue.end(), request);
    return {shared_from_this(), request};
}

/// Requires the mutex.
void ServerTraffic::take_all(Requests& queue, Requests& taken) noexcept {
    taken.swap(queue);
    for (const auto& request : taken) request->queue = nullptr;
}

void ServerTraffic::post(const std::shared_ptr<Request>& request) {
    asio::post(request->executor, [self = shared_from_this(), request] { self->run(*request); });
}

void ServerTraffic::run(Request& request) {
    Handler handler;
    {
        const std::lock_guard lock(mutex_);
        handler.swap(request.handler);
    }
    if (handler) handler();
}

void ServerTraffic::withdraw(Request& request) noexcept {
    Handler handler;
    const std::lock_guard lock(mutex_);
    handler.swap(request.handler);
    if (request.queue == nullptr) return;
    std::exchange(request.queue, nullptr)->erase(request.position);
}

void ServerTraffic::RequestHandle::reset() noexcept {
    const auto request = std::exchange(request_, nullptr);
    const auto traffic = std::exchange(traffic_, nullptr);
    if (request) traffic->withdraw(*request);
}

ServerTraffic::RequestHandle& ServerTraffic::RequestHandle::operator=(
    RequestHandle&& other) noexcept {
    const RequestHandle before = std::move(*this);
    request_ = std::move(other.request_);
    traffic_ = std::move(other.traffic_);
    return *this;
}

}  // namespace k8s_sd::inline v0::detail
