#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/objects/watcher_config.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// The members of a fleet, as far as visible.
struct FleetSighting {
    /// False: the members cannot be determined now, and `members` has no meaning.
    bool in_sight = false;
    /// The members in any order.
    std::vector<FleetMember> members{};
    /// The reason for missing visibility, in words; without secrets.
    std::string message{};
    /// Identity of the fleet of these members, if it can change while the source runs; empty: as
    /// MemberSource::identity().
    std::string identity{};
};

/// Finds the members of a fleet. There are service_members(), lease_members() and static_members();
/// a host may implement its own.
class K8S_SD_EXPORT MemberSource {
 public:
    /// May be called on any thread, one call at a time.
    using Callback = std::function<void(const FleetSighting&)>;

    virtual ~MemberSource() = default;
    /// Starts to observe; called once. `callback` is called after each change, never from within
    /// start().
    virtual void start(Callback callback) = 0;
    /// Ends the observation. Afterwards at most one call already begun is running; it must end
    /// before the membership's execution context does.
    virtual void stop() noexcept = 0;
    /// Announces the state of this member. Does nothing if other members learn it by other means,
    /// such as the readiness of a pod.
    virtual void announce(MemberState) {}
    /// Identifies the fleet among fleets with equal names of members; the same text in each run of
    /// the program. A snapshot with another identity is not used. Without secrets. Called before
    /// start(); see FleetSighting::identity for later changes.
    virtual std::string identity() const { return {}; }
};

/// A fixed set of members, always active: no request, no permission, and no detection of failed
/// members.
/// \param executor  executor of the callback
/// \throws ConfigError for an empty executor, and without a name
K8S_SD_EXPORT std::shared_ptr<MemberSource> static_members(asio::any_io_executor executor,
                                                           std::vector<std::string> names);

/// The names of the pods of a StatefulSet with `self` among them: "agent-2" of 3 members makes
/// "agent-0", "agent-1" and "agent-2"; a number alone makes numbers.
/// \param first  the first number: `.spec.ordinals.start`
/// \throws ConfigError if `self` does not end in a number, or in one out of range
K8S_SD_EXPORT std::vector<std::string> ordinal_members(std::string_view self, unsigned members,
                                                       unsigned first = 0);

/// The pods behind a headless Service, from its EndpointSlices. A ready endpoint is active, an
/// unready one is joining, and a terminating one is leaving; publishNotReadyAddresses does not
/// matter. The name of a member is the name of its pod; without a pod its hostname, else its
/// address. Needs list and watch of EndpointSlices in the namespace, and nothing else.
/// \param executor  executor of the source
/// \param service   the name of the Service
/// \param where     the server, and the namespace: one, or none for the namespace of the program's
///                  pod. Selectors and fields are ignored.
/// \throws ConfigError as Watcher does, and for an invalid name or number of namespaces
K8S_SD_EXPORT std::shared_ptr<MemberSource> service_members(asio::any_io_executor executor,
                                                            std::string_view service,
                                                            WatcherConfig where = {});

/// Configuration of lease_members().
struct LeaseMembersConfig {
    std::string fleet{};  ///< name of the fleet: a label value
    std::string self{};   ///< name of this member: the name of its pod
    /// UID of the pod, from the downward API: the Lease is deleted together with the pod. Empty:
    /// the Lease remains after the program's end, without effect.
    std::string pod_uid{};
    /// A member is gone after this time without a renewal of its Lease.
    Duration duration = std::chrono::seconds(30);
    /// Time between two renewals.
    Duration interval = std::chrono::seconds(10);
    /// The server, and the namespace: one, or none for the namespace of the program's pod.
    WatcherConfig where{};
};

/// A Lease (coordination.k8s.io/v1) for each member, renewed by it. Detects a hanging program even
/// if its probe succeeds, and needs no Service. But every member writes, and receives every
/// renewal: suitable for up to about 200 members. Needs get, list, watch, create and update of
/// Leases in the namespace.
///
/// Expiry is measured on the observer's clock, from its observation of the last renewal, as in
/// client-go's leader election. While its own renewals are not visible, a member concludes nothing.
/// FleetRules::hold_down begins at the expiry of a Lease, so it can be short.
/// \param executor  executor of the source
/// \throws ConfigError as Watcher does, and for missing or inconsistent members of `config`
K8S_SD_EXPORT std::shared_ptr<MemberSource> lease_members(asio::any_io_executor executor,
                                                          LeaseMembersConfig config);

}  // namespace k8s_sd::inline v0
