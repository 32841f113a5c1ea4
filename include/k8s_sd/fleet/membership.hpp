#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/run_initiation.hpp"
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

/// How a program takes part in a fleet.
struct MembershipConfig {
    /// Who the members are. Of one membership.
    std::shared_ptr<MemberSource> source{};
    /// The name of this member, as the source has it: of service_members(), the name of the pod,
    /// which the downward API gives.
    std::string self{};
    unsigned replicas = 1;  ///< owners of each key
    FleetRules rules{};     ///< when what is seen counts
    /// The view is kept in a file of this directory, so that a program that starts while the
    /// members cannot be seen has its share: it goes by the view of before, ViewHold::away, until
    /// they are. Then the rules decide, as after an outage. The directory is one as that of
    /// WarmStart, and may be the same. Empty: no file.
    ///
    /// Another fleet, member or number of replicas has another file. One that is damaged or too old
    /// is ignored, with one line in the log and in the status.
    std::string snapshot_directory{};
    /// A file is ignored if no program has gone by it for so long. A program that runs writes it
    /// again at each quarter of this time.
    Duration snapshot_max_age = std::chrono::hours(1);
};

/// How a fleet is doing, as one member sees it.
struct FleetStatus {
    FleetViewPtr view{};                 ///< null: none yet
    ViewHold hold = ViewHold::unknown;   ///< why the view is not what is seen
    TimePoint since{};                   ///< when `hold` took its present value
    std::string message{};               ///< what `hold` means here, in words; no secrets in it
    std::vector<FleetMember> members{};  ///< as they were seen last, sorted by name
    std::uint64_t views = 0;             ///< that there have been
    bool ready = false;                  ///< see Membership::ready()
    /// Of the file in MembershipConfig::snapshot_directory: how old the view is, or why the file is
    /// ignored or not written. Empty: nothing to say.
    std::string snapshot{};
};

/// Takes part in a fleet: finds out who its members are, and says what this one owns. All members
/// that see the same come to the same view, without a word between them.
///
/// \par Callback
/// `void(const FleetShare&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. It is called for each new view,
/// the newest one only; until the first call nothing is owned, see share(). After cancel() has
/// returned at most a call that had begun is still running.
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
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(const FleetShare&)>;

    /// \throws ConfigError for an empty executor or callback, without a source or name, and for
    ///         rules that cannot be followed
    Membership(executor_type, MembershipConfig, Callback);
    Membership(Membership&&) noexcept = default;
    Membership& operator=(Membership&&) noexcept;
    ~Membership();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Runs until it is cancelled. That the members cannot be seen does not end it.
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if it runs already
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &Membership::run), token);
    }
    /// Stops; idempotent, prompt. What was owned stays so: others see by themselves that this
    /// member goes. A cancelled membership cannot be run again.
    void cancel() noexcept;

    /// What this member owns now; nothing before the first view, which may be that of a file.
    FleetShare share() const;
    /// A copy of the present status.
    FleetStatus status() const;

    /// What this member would own is known to it: the lists that it discovers from are complete.
    /// Until then it must not have a share.
    void set_synced(bool synced = true);
    /// This member is about to end: others are to take its share. Where they see it by other means,
    /// as from a terminating pod, it does nothing.
    void leave();
    /// Whether this member may be given a share: it is synced, and has seen who the members are; to
    /// know who they were before a restart is not enough.
    /// Let the readiness probe of the program's pod answer so: others give up what it takes when
    /// they see it ready.
    bool ready() const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, Handler);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
