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
      ns_(std::move(ns)),
      name_(std::move(name)),
      cache_(host.io.get_executor(), config) {
    // Refuses invalid names before the watch has a number.
    [[maybe_unused]] const auto reference = cache_.add_reference(ns_, name_);
}

void DataWatch::start() {
    changes_ = reading_slot(*this);
    subscription_ =
        cache_.subscribe(ns_, name_, [weak = weak_of(*this)](const k8s_sd::ObjectPtr& object) {
            if (const auto self = weak.lock()) self->on_object(object);
        });
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
    delivered_ = latest_;
    waiting_ = true;
    deliver(changes_, std::make_unique<DataEvent>(identity(), full, op, ns_ + "/" + name_,
                                                  as_data_object(*latest_)));
}

void DataWatch::write_status(JsonWriter& out, std::vector<k8s_sd::WatchStatus>&) const {
    const auto status = cache_.status(ns_, name_);
    const auto state = status ? status->state : k8s_sd::CachedState::unsynced;
    out.key("synced").boolean(state != k8s_sd::CachedState::unsynced);
    out.member("message", status ? status->message : "");
    out.member("state", to_string(state));
}

}  // namespace k8s_sd_c
