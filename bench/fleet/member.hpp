#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "link.hpp"
#include "tally.hpp"

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace bench {

/// How members find each other.
enum class Provider { slices, leases };

/// Settings shared by all members.
struct MemberSetup {
    std::shared_ptr<k8s_sd::Clock> clock;
    std::string url;        ///< of the API server
    k8s_sd::Job discovery;  ///< of the targets
    k8s_sd::Duration interval;
    unsigned replicas = 1;
    Provider provider = Provider::slices;
    std::size_t targets_of_group = 1;
    Tally* tally = nullptr;
};

/// One program of a fleet, with its own context, environment and connections: discovers the
/// targets, joins the fleet, and scrapes its share. Destroying it models the abrupt end of a
/// process. For one thread.
class Member final : private k8s_sd::TargetHandler {
 public:
    Member(const MemberSetup&, std::string name, std::shared_ptr<Link> link);
    ~Member();

    /// Runs the ready handlers. \returns the number of handlers that ran
    std::size_t poll() { return context_.poll(); }
    /// SIGTERM: the member continues until it is destroyed.
    void leave() { membership_.leave(); }
    bool ready() const { return membership_.ready(); }
    /// The number of members in its view.
    std::size_t view_size() const;
    Link& link() noexcept { return *link_; }

 private:
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;

    /// The member's own context, with an environment that connects through the member's link.
    struct Context : k8s_sd::asio::io_context {
        Context(const MemberSetup&, const std::string& name, std::shared_ptr<Link> link);
        const k8s_sd::asio::executor_work_guard<executor_type> work;
    };

    std::size_t number_of(const k8s_sd::ScrapeTarget&) const;
    void share(const k8s_sd::FleetShare&);
    void finish_handovers_later();

    const MemberSetup setup_;
    const std::shared_ptr<Link> link_;
    Context context_;
    k8s_sd::TargetPool pool_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    k8s_sd::Membership membership_;
    k8s_sd::DiscoveryManager manager_;
};

}  // namespace bench
