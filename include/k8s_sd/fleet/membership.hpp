#pragma once

#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_rules.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/fleet/member_source.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// Configuration of a program's membership in a fleet.
struct MembershipConfig {
    /// The source of the members, used by one membership only.
    std::shared_ptr<MemberSource> source{};
    /// The name of this member in the source: for service_members(), the name of the pod, from the
    /// downward API.
    std::string self{};
    unsigned replicas = 1;  ///< owners of each key
    FleetRules rules{};     ///< when visible changes become the view
    /// Directory for a file with the view, so a program started while the members are not visible
    /// has its share: it uses the previous view, with ViewHold::away, until they are visible. Then
    /// the rules apply, as after an outage. Same requirements as for the directory of WarmStart,
    /// may be the same directory. Empty: no file.
    ///
    /// Each fleet, member and number of replicas has its own file. A damaged or too old file is
    /// ignored, with one line in the log and in the status.
    std::string snapshot_directory{};
    /// A file is ignored after this time without use by a program. A running program rewrites it
    /// after each quarter of this time.
    Duration snapshot_max_age = std::chrono::hours(1);
};

/// The status of a fleet, as seen by one member.
struct FleetStatus {
    FleetViewPtr view{};                 ///< null: none yet
    ViewHold hold = ViewHold::unknown;   ///< why the view differs from the visible members
    TimePoint since{};                   ///< time of the last change of `hold`
    std::string message{};               ///< explains `hold` in words; without secrets
    std::vector<FleetMember> members{};  ///< the last visible members, sorted by name
    std::uint64_t views = 0;             ///< number of views so far
    bool ready = false;                  ///< see Membership::ready()
    /// For the file in MembershipConfig::snapshot_directory: the age of its view, or the reason it
    /// was ignored or not written. Empty: nothing to report.
    std::string snapshot{};
};

/// Takes part in a fleet: observes its members, and determines the share of this one. All members
/// with the same observation come to the same view, without any communication.
///
/// \par Callback
/// `void(const FleetShare&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. It is called for each new view,
/// with the latest one only; until the first call nothing is owned, see share(). After cancel() has
/// returned, at most one call already begun is still running.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context.
///
/// \par Thread safety
/// Distinct objects: safe. One object: all member functions may be called from any thread; moving
/// and destroying must not overlap with other calls.
class K8S_SD_EXPORT Membership {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const FleetShare&)>;

    /// \throws ConfigError for an empty executor or callback, without a source or name, and for
    ///         inconsistent rules
    Membership(executor_type, MembershipConfig, Callback);
    Membership(Membership&&) noexcept = default;
    Membership& operator=(Membership&&) noexcept;
    ~Membership();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Runs until cancelled. Missing visibility of the members does not end it.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if already running
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Membership::run), token);
    }
    /// Stops the membership; idempotent, prompt. The share stays: others detect the end of this
    /// member by themselves. A cancelled membership cannot be run again.
    void cancel() noexcept;

    /// The current share of this member; nothing before the first view, possibly from a file.
    FleetShare share() const;
    /// A copy of the current status.
    FleetStatus status() const;

    /// Reports whether this member is synced: the lists it discovers from are complete. Until then
    /// it must not have a share.
    void set_synced(bool synced = true);
    /// Announces the end of this member, so others take over its share. Does nothing if others see
    /// it by other means, such as a terminating pod.
    void leave();
    /// Whether this member may be given a share: it is synced, and has seen the members; a view
    /// from before a restart is not enough.
    /// The readiness probe of the program's pod should return this: others hand over their targets
    /// when they see it ready.
    bool ready() const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, Handler);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
