#include "k8s_sd/detail/client/server_traffic.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

using Gauge = Metrics::Gauge;

/// \param granted  null: not counted
/// \param waiting  null: no request waits
std::shared_ptr<PermitQueue> make_permits(PermitQueue::Limit limit,
                                          const std::shared_ptr<Metrics>& metrics,
                                          const std::shared_ptr<Clock>& clock,
                                          Gauge Metrics::*granted, Gauge Metrics::*waiting) {
    const auto gauge = [&](Gauge Metrics::*member) {
        return member ? std::shared_ptr<Gauge>(metrics, &((*metrics).*member)) : nullptr;
    };
    return std::make_shared<PermitQueue>(limit, PermitQueue::Gauges{gauge(granted), gauge(waiting)},
                                         clock);
}

/// Short requests need not wait behind watches, even if the attempts of these hang.
PermitQueue::Limit limit_of_connects(std::size_t connects) { return {connects, connects / 8}; }

}  // namespace

ServerTraffic::ServerTraffic(const ServerLimits& limits, const std::shared_ptr<Metrics>& metrics,
                             const std::shared_ptr<Clock>& clock)
    : list_permits(make_permits({limits.concurrent_lists}, metrics, clock, &Metrics::lists_running,
                                &Metrics::lists_waiting)),
      watch_permits(
          make_permits({limits.watches}, metrics, clock, &Metrics::open_watches, nullptr)),
      connect_permits(make_permits(limit_of_connects(limits.concurrent_connects), metrics, clock,
                                   &Metrics::connects_running, &Metrics::connects_waiting)),
      own_connections(make_permits({max_own_connections}, metrics, clock, nullptr, nullptr)) {}

// --- health of the server ------------------------------------------------------------------------

void ServerTraffic::on_failure() {
    list_forms.on_outage();
    ++counts->failures;
    const std::lock_guard lock(mutex_);
    failed_ = true;
}

void ServerTraffic::on_success() {
    {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(failed_, false)) return;
        ++recoveries_;
    }
    recovering_->grant_all();
}

std::uint64_t ServerTraffic::recoveries() const {
    const std::lock_guard lock(mutex_);
    return recoveries_;
}

ServerUsage ServerTraffic::usage() const {
    ServerUsage usage;
    usage.requests = counts->requests;
    usage.failures = counts->failures;
    usage.received_bytes = counts->received_bytes;
    usage.lists_running = list_permits->granted();
    usage.lists_waiting = list_permits->waiting();
    usage.open_watches = watch_permits->granted();
    usage.connects_running = connect_permits->granted();
    usage.connects_waiting = connect_permits->waiting();
    usage.connections = static_cast<std::size_t>(counts->connections.load());
    const std::lock_guard lock(mutex_);
    usage.failing = failed_;
    return usage;
}

ServerTraffic::RequestHandle ServerTraffic::async_recovery(asio::any_io_executor executor,
                                                           Handler handler) {
    return recovering_->add(std::move(executor), std::move(handler));
}

// --- trials of streamed lists --------------------------------------------------------------------

ServerTraffic::StreamTrial ServerTraffic::try_stream_trial(Kind kind) {
    const std::string_view family = ListMemory::family(kind);
    const std::lock_guard lock(mutex_);
    if (!trials_.insert(family).second) return {};
    return {shared_from_this(), family};
}

void ServerTraffic::end_trial(std::string_view family) noexcept {
    {
        const std::lock_guard lock(mutex_);
        trials_.erase(family);
    }
    expecting_->grant_all();
}

ServerTraffic::RequestHandle ServerTraffic::async_stream_trial_end(asio::any_io_executor executor,
                                                                   Handler handler) {
    RequestHandle handle = expecting_->add(std::move(executor), std::move(handler));
    bool idle = false;
    {
        const std::lock_guard lock(mutex_);
        idle = trials_.empty();
    }
    if (idle) expecting_->grant_all();
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

}  // namespace k8s_sd::inline v0::detail
