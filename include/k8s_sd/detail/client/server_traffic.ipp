#include "k8s_sd/detail/client/server_traffic.hpp"

#include <boost/asio/post.hpp>

namespace k8s_sd::inline v0::detail {

/// All members but the executor are guarded by the mutex. Whoever moves the handler out must invoke
/// or destroy it.
struct ServerTraffic::Request {
    asio::any_io_executor executor;
    PermitHandler handler;
    Permit granted;
    Requests* queue = nullptr;  ///< null: no longer queued
    Requests::iterator position;
};

ServerTraffic::ServerTraffic(const ServerLimits& limits, std::shared_ptr<Metrics> metrics)
    : limits_(limits), metrics_(std::move(metrics)) {}

// --- permits -------------------------------------------------------------------------------------

ServerTraffic::RequestHandle ServerTraffic::async_list_permit(asio::any_io_executor executor,
                                                              PermitHandler handler) {
    RequestHandle handle = enqueue(waiting_, std::move(executor), std::move(handler));
    hand_out();
    return handle;
}

ServerTraffic::Permit ServerTraffic::try_list_permit() {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty() || !has_list_permit()) return {};
    ++lists_;
    ++metrics_->lists_running;
    return {shared_from_this(), Use::list};
}

ServerTraffic::Permit ServerTraffic::try_watch_permit() {
    const std::lock_guard lock(mutex_);
    if (limits_.watches != 0 && watches_ >= limits_.watches) return {};
    ++watches_;
    ++metrics_->open_watches;
    return {shared_from_this(), Use::watch};
}

bool ServerTraffic::has_list_permit() const noexcept {
    return limits_.concurrent_lists == 0 || lists_ < limits_.concurrent_lists;
}

// One call at a time: a stopped executor destroys posted handlers, their permits are returned, and
// this would recurse through the whole queue.
void ServerTraffic::hand_out() noexcept {
    std::unique_lock lock(mutex_);
    if (std::exchange(handing_out_, true)) return;
    while (!waiting_.empty() && has_list_permit()) {
        std::shared_ptr<Request> next = std::move(waiting_.front());
        waiting_.pop_front();
        ++lists_;
        --metrics_->lists_waiting;
        ++metrics_->lists_running;
        next->queue = nullptr;
        next->granted = Permit(shared_from_this(), Use::list);
        lock.unlock();
        post(next);
        next.reset();
        lock.lock();
    }
    handing_out_ = false;
}

void ServerTraffic::give_back(Use use) noexcept {
    {
        const std::lock_guard lock(mutex_);
        --(use == Use::list ? lists_ : watches_);
    }
    --(use == Use::list ? metrics_->lists_running : metrics_->open_watches);
    if (use == Use::list) hand_out();
}

void ServerTraffic::Permit::reset() noexcept {
    if (const auto traffic = std::exchange(traffic_, nullptr)) traffic->give_back(use_);
}

ServerTraffic::Permit& ServerTraffic::Permit::operator=(Permit&& other) noexcept {
    const Permit before = std::move(*this);
    traffic_ = std::move(other.traffic_);
    use_ = other.use_;
    return *this;
}

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
                                                           RecoveryHandler handler) {
    return enqueue(recovering_, std::move(executor),
                   [handler = std::move(handler)](const Permit&) { handler(); });
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
                                                                   RecoveryHandler handler) {
    RequestHandle handle = enqueue(expecting_, std::move(executor),
                                   [handler = std::move(handler)](const Permit&) { handler(); });
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
                                                    PermitHandler handler) {
    const auto request = std::make_shared<Request>();
    request->executor = std::move(executor);
    request->handler = std::move(handler);
    request->queue = &queue;
    const std::lock_guard lock(mutex_);
    request->position = queue.insert(queue.end(), request);
    if (&queue == &waiting_) ++metrics_->lists_waiting;
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
    PermitHandler handler;
    Permit permit;
    {
        const std::lock_guard lock(mutex_);
        handler.swap(request.handler);
        std::swap(permit, request.granted);
    }
    if (handler) handler(std::move(permit));
}

void ServerTraffic::withdraw(Request& request) noexcept {
    PermitHandler handler;
    Permit permit;
    const std::lock_guard lock(mutex_);
    handler.swap(request.handler);
    std::swap(permit, request.granted);
    if (request.queue == nullptr) return;
    if (request.queue == &waiting_) --metrics_->lists_waiting;
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
