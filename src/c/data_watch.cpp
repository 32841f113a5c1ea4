#include "data_watch.hpp"

#include "data_event.hpp"

#include <utility>

namespace k8s_sd_c {

namespace {

k8s_sd_op op_of(const std::optional<k8s_sd::ObjectPtr>& before, const k8s_sd::ObjectPtr& now) {
    if (!now) return K8S_SD_REMOVED;
    const bool continues = before && *before && (*before)->same_uid(*now);
    return continues ? K8S_SD_CHANGED : K8S_SD_ADDED;
}

}  // namespace

DataWatch::DataWatch(const Host& host, WatchIdentity identity,
                     const k8s_sd::ObjectCacheConfig& config, std::string ns, std::string name)
    : Watch(host, identity),
      config_(config),
      ns_(std::move(ns)),
      name_(std::move(name)),
      cache_(std::make_shared<Cache>(host.io.get_executor(), config_)) {
    // Refuses invalid names before the watch has a number.
    [[maybe_unused]] const auto reference = cache_->objects.add_reference(ns_, name_);
}

std::shared_ptr<DataWatch::Cache> DataWatch::cache() const {
    const std::lock_guard lock(mutex_);
    return cache_;
}

void DataWatch::set_cache(std::shared_ptr<Cache> cache) noexcept {
    const std::lock_guard lock(mutex_);
    cache_.swap(cache);  // destroys the previous one without the mutex
}

void DataWatch::start() {
    changes_ = reading_slot(*this);
    subscribe();
}

void DataWatch::subscribe() {
    const auto cache = this->cache();
    cache->subscription = cache->objects.subscribe(
        ns_, name_, [weak = weak_of(*this), of = cache.get()](const k8s_sd::ObjectPtr& object) {
            const auto self = weak.lock();
            if (self && self->cache().get() == of) self->on_object(object);
        });
}

void DataWatch::cancel() noexcept {
    if (const auto cache = this->cache()) cache->objects.cancel();
}

void DataWatch::forget() noexcept {
    cancel();
    set_cache(nullptr);
    delivered_.reset();
    latest_.reset();
    waiting_ = false;
    reported_ = {};
}

void DataWatch::begin_again() {
    set_cache(std::make_shared<Cache>(host().io.get_executor(), config_));
    subscribe();
}

void DataWatch::on_object(const k8s_sd::ObjectPtr& object) {
    latest_ = object;
    if (!waiting_) read();
}

void DataWatch::read() {
    waiting_ = false;
    if (!latest_ || latest_ == delivered_) return;
    const auto op = op_of(delivered_, *latest_);
    const bool full = !delivered_;
    deliver(changes_, std::make_unique<DataEvent>(identity(), full, op, ns_ + "/" + name_,
                                                  as_data_object(*latest_)));
    delivered_ = latest_;
    waiting_ = true;
}

std::optional<k8s_sd::CachedObjectStatus> DataWatch::object_status() const {
    const auto cache = this->cache();
    return cache ? cache->objects.status(ns_, name_) : std::nullopt;
}

void DataWatch::check_status() {
    const auto status = object_status();
    if (!status) return;
    ReportedStatus present{status->state != k8s_sd::CachedState::unsynced, status->message};
    if (present == reported_) return;
    deliver(status_slot_, std::make_unique<StatusEvent>(identity(), present));
    reported_ = std::move(present);
}

void DataWatch::write_status(JsonWriter& out, std::vector<k8s_sd::WatchStatus>&) const {
    const auto status = object_status();
    const auto state = status ? status->state : k8s_sd::CachedState::unsynced;
    out.member("synced", state != k8s_sd::CachedState::unsynced);
    out.member("message", status ? status->message : "");
    out.member("state", to_string(state));
}

}  // namespace k8s_sd_c
