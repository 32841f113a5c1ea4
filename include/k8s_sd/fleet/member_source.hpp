#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/time.hpp"
#include "k8s_sd/watcher_config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// Who the members of a fleet are, as far as one can see.
struct FleetSighting {
    /// False: nobody can say now, and `members` means nothing. Nothing is concluded from it.
    bool in_sight = false;
    /// In any order.
    std::vector<FleetMember> members{};
    /// Why they cannot be seen, in words; no secrets in it.
    std::string message{};
    /// Of the fleet whose members these are, where that can change while the source runs; empty: it
    /// is that of MemberSource::identity().
    std::string identity{};
};

/// Finds out who the members of a fleet are. There are service_members(), lease_members() and
/// static_members(); a host may bring its own.
class K8S_SD_EXPORT MemberSource {
 public:
    /// May be called on any thread, one call at a time.
    using Callback = std::function<void(const FleetSighting&)>;

    virtual ~MemberSource() = default;
    /// Begins to look, once. `tell` is called when what is known changes, not from within.
    virtual void start(Callback tell) = 0;
    /// Ends. From now on at most a call that has begun is running; it must end before the
    /// membership's execution context does.
    virtual void stop() noexcept = 0;
    /// What this member is about to do. Does nothing where others learn it by other means, as from
    /// the readiness of a pod.
    virtual void announce(MemberState) {}
    /// Tells this fleet from others that have members of the same names; the same text in each run
    /// of the program. What was kept of a fleet with another one is not used. No secrets in it.
    /// Asked before start(); see FleetSighting::identity for what comes later.
    virtual std::string identity() const { return {}; }
};

/// A fixed number of members that are always active: no request, no permission, and nothing that
/// finds out when one is dead.
/// \param executor  where it tells
/// \throws ConfigError for an empty executor, and without a name
K8S_SD_EXPORT std::shared_ptr<MemberSource> static_members(asio::any_io_executor executor,
                                                           std::vector<std::string> names);

/// The names of the pods of a StatefulSet, of which `self` is one: "agent-2" of 3 members makes
/// "agent-0", "agent-1" and "agent-2"; a number alone makes numbers.
/// \param first  the first number: `.spec.ordinals.start`
/// \throws ConfigError if `self` does not end in a number, or in one that is not of the members
K8S_SD_EXPORT std::vector<std::string> ordinal_members(std::string_view self, unsigned members,
                                                       unsigned first = 0);

/// The pods behind a headless Service, of its EndpointSlices. One that is ready is active, one
/// that is not is joining, and one that is terminating is leaving; publishNotReadyAddresses does
/// not matter. A member is the name of its pod; an endpoint without one is known by its hostname,
/// else by its address. Needs list and watch of EndpointSlices in that namespace, and nothing else.
/// \param executor  where it works
/// \param service   the name of the Service
/// \param where     the server, and the namespace: one, or none for that of the program's pod.
///                  Selectors and fields do not matter.
/// \throws ConfigError as Watcher does, and for a name or a number of namespaces that will not do
K8S_SD_EXPORT std::shared_ptr<MemberSource> service_members(asio::any_io_executor executor,
                                                            std::string_view service,
                                                            WatcherConfig where = {});

/// How lease_members() finds a fleet.
struct LeaseMembersConfig {
    std::string fleet{};  ///< its name: a label value
    std::string self{};   ///< the name of this member: that of its pod
    /// The UID of the pod, which the downward API gives: the Lease is deleted together with it.
    /// Empty: it stays when the program has ended, and says nothing.
    std::string pod_uid{};
    /// A member whose Lease has not been renewed for so long is not there any more.
    Duration duration = std::chrono::seconds(30);
    /// Between two renewals.
    Duration interval = std::chrono::seconds(10);
    /// The server, and the namespace: one, or none for that of the program's pod.
    WatcherConfig where{};
};

/// A Lease (coordination.k8s.io/v1) of each member, which it renews. It finds out that a program
/// hangs although its probe answers, and needs no Service. But every member writes, and is told of
/// every renewal: good for up to some 200 members. Needs get, list, watch, create and update of
/// Leases in that namespace.
///
/// When a Lease expires is measured by the clock of who sees it, from when its last renewal was
/// seen, as in client-go's leader election. While the own renewals are not seen nothing is
/// concluded. FleetRules::hold_down begins when a Lease has expired, so it can be short.
/// \param executor  where it works
/// \throws ConfigError as Watcher does, and for what is missing or does not fit together
K8S_SD_EXPORT std::shared_ptr<MemberSource> lease_members(asio::any_io_executor executor,
                                                          LeaseMembersConfig config);

}  // namespace k8s_sd::inline v0
