#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/fleet/fleet_place.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/fleet/member_source.hpp"

#include <boost/asio/strand.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// Empty: the endpoint has no identity.
std::string_view name_of(const api::Endpoint& endpoint) {
    if (endpoint.target_ref && !endpoint.target_ref->name.empty()) return endpoint.target_ref->name;
    if (endpoint.hostname && !endpoint.hostname->empty()) return *endpoint.hostname;
    return endpoint.addresses.empty() ? std::string_view() : endpoint.addresses.front();
}

/// Ignores `ready`: it is also set for unready pods if the Service publishes their addresses.
MemberState state_of(const api::EndpointConditions& conditions) {
    if (conditions.is_terminating()) return MemberState::leaving;
    return conditions.is_serving() ? MemberState::active : MemberState::joining;
}

/// Appends the members of a slice. A member may occur more than once: with dual stack each pod is
/// in two slices, and an endpoint moving between slices is in both for a moment.
void append_members(const api::EndpointSlice& slice, std::vector<FleetMember>& members) {
    for (const api::Endpoint& endpoint : slice.endpoints) {
        const std::string_view name = name_of(endpoint);
        if (!name.empty()) members.push_back({std::string(name), state_of(endpoint.conditions)});
    }
}

}  // namespace

}  // namespace k8s_sd::inline v0::detail

namespace k8s_sd::inline v0 {

namespace {

/// The fields needed of a slice; changes of other fields are not reported.
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
          namespaces_(detail::resolve_scope(config_, in_cluster_).namespaces),
          watcher_(asio::make_strand(executor), api::kind_of<Slice>, config_,
                   {[this](const detail::ObjectWatch::News& news) { take(news); },
                    [this] { report(); }}) {}

    void start(Callback callback) override {
        callback_ = std::move(callback);
        watcher_.report_moves();
        watcher_.set_status_callback([this](const DiscovererStatus& status) { on_status(status); });
        // This handler keeps the object alive until the watcher ends; no other callback owns it.
        watcher_.async_run([self = shared_from_this()](error_code) {});
    }
    void stop() noexcept override { watcher_.cancel(); }
    std::string identity() const override {
        const WatchScope scope = detail::resolve_scope(config_, in_cluster_);
        return identity_of(detail::ServerIdentity(scope.api_server), scope.namespaces);
    }

 private:
    std::string identity_of(const detail::ServerIdentity& server,
                            const std::vector<std::string>& namespaces) const {
        return detail::fleet_identity("service", service_, server, namespaces);
    }
    void take(const detail::ObjectWatch::News& news) {
        if (news.full) slices_.clear();
        for (const ObjectChange& change : news.changes) {
            if (change.after) {
                slices_.insert_or_assign(std::string(change.after->name()), change.after);
            } else {
                slices_.erase(std::string(change.before->name()));
            }
        }
        known_ = true;
        if (news.server) server_ = news.server;
    }
    /// While the server is unreachable, its last response does not count as the present state.
    void on_status(const DiscovererStatus& status) {
        error_ = status.error ? status.message : std::string();
        report();
    }
    void report() const {
        FleetSighting sighting;
        sighting.in_sight = known_ && error_.empty();
        sighting.message = error_;
        if (server_) sighting.identity = identity_of(*server_, namespaces_);
        for (const auto& [name, slice] : slices_) {
            detail::append_members(*static_cast<const Slice*>(slice->api_object().get()),
                                   sighting.members);
        }
        callback_(sighting);
    }

    const std::string service_;
    const WatcherConfig config_;
    const InClusterFiles in_cluster_;
    const std::vector<std::string> namespaces_;
    detail::ObjectWatch watcher_;
    Callback callback_;
    // Used on the strand only.
    bool known_ = false;
    std::string error_;  // empty: none
    std::map<std::string, ObjectPtr> slices_;
    std::optional<detail::ServerIdentity> server_;  // the server of the slices
};

}  // namespace

std::shared_ptr<MemberSource> service_members(asio::any_io_executor executor,
                                              std::string_view service, WatcherConfig where) {
    detail::check_host_executor(executor, "service_members");
    return std::make_shared<ServiceMembers>(executor, service, std::move(where));
}

}  // namespace k8s_sd::inline v0
