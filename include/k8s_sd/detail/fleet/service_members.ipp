#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/fleet/fleet_place.hpp"
#include "k8s_sd/detail/fleet/slice_members.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/member_source.hpp"
#include "k8s_sd/watcher.hpp"

#include <boost/asio/strand.hpp>
#include <map>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// All that is needed of a slice; the rest is no change.
WatcherConfig slices_of(std::string_view service, WatcherConfig where) {
    if (service.empty()) throw ConfigError("service", "must be the name of a headless Service");
    detail::settle_in_one_namespace(where);
    where.label_selector = "kubernetes.io/service-name=" + std::string(service);
    where.field_selector.clear();
    where.fields = Fields({"endpoints"});
    return where;
}

class ServiceMembers final : public MemberSource,
                             public std::enable_shared_from_this<ServiceMembers> {
 public:
    using Slice = api::EndpointSlice;

    ServiceMembers(const asio::any_io_executor& executor, std::string_view service,
                   WatcherConfig where)
        : service_(service),
          config_(slices_of(service, std::move(where))),
          in_cluster_(detail::ContextEnvironment::of(executor).in_cluster()),
          watcher_(asio::make_strand(executor), config_,
                   [this](const ObjectDiff<Slice>& diff) { on_diff(diff); }) {}

    void start(Callback tell) override {
        tell_ = std::move(tell);
        watcher_.set_status_callback([this](const DiscovererStatus& status) { on_status(status); });
        // The watcher ends with this object, which has no other owner in its callbacks.
        watcher_.async_run([self = shared_from_this()](error_code) {});
    }
    void stop() noexcept override { watcher_.cancel(); }
    std::string identity() const override {
        return detail::fleet_identity("service", service_,
                                      detail::resolve_scope(config_, in_cluster_));
    }

 private:
    void on_diff(const ObjectDiff<Slice>& diff) {
        if (diff.full) slices_.clear();
        for (const auto& slice : diff.removed) slices_.erase(std::string(slice->metadata.name));
        for (const auto& slice : diff.added) put(slice);
        for (const auto& [before, after] : diff.changed) put(after);
        known_ = true;
        tell();
    }
    void put(const std::shared_ptr<const Slice>& slice) {
        slices_.insert_or_assign(std::string(slice->metadata.name), slice);
    }
    /// While the server cannot be asked, what it said last says nothing of now.
    void on_status(const DiscovererStatus& status) {
        error_ = status.error ? status.message : std::string();
        tell();
    }
    void tell() const {
        FleetSighting sighting;
        sighting.in_sight = known_ && error_.empty();
        sighting.message = error_;
        for (const auto& [name, slice] : slices_) {
            detail::append_members(*slice, sighting.members);
        }
        tell_(sighting);
    }

    const std::string service_;
    const WatcherConfig config_;
    const InClusterFiles in_cluster_;
    Watcher<Slice> watcher_;
    Callback tell_;
    // Of the strand.
    bool known_ = false;
    std::string error_;  // empty: none
    std::map<std::string, std::shared_ptr<const Slice>> slices_;
};

}  // namespace

std::shared_ptr<MemberSource> service_members(asio::any_io_executor executor,
                                              std::string_view service, WatcherConfig where) {
    detail::check_host_executor(executor, "service_members");
    return std::make_shared<ServiceMembers>(executor, service, std::move(where));
}

}  // namespace k8s_sd::inline v0
