#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/watcher_config.hpp"

#include <boost/asio/any_io_executor.hpp>
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
};

/// Finds out who the members of a fleet are. There are service_members() and static_members(); a
/// host may bring its own.
class K8S_SD_EXPORT MemberSource {
 public:
    /// May be called on any thread, one call at a time.
    using Callback = std::function<void(const FleetSighting&)>;

    virtual ~MemberSource() = default;
    /// Begins to look, once. `tell` is called when what is known changes, not from within.
    virtual void start(Callback tell) = 0;
    /// Ends. From now on at most a call that has begun is running.
    virtual void stop() noexcept = 0;
    /// This member has become ready to be active, or is no longer. Of sources that others learn it
    /// from by other means it does nothing.
    virtual void set_ready(bool) {}
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

}  // namespace k8s_sd::inline v0
