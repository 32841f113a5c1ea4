#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace scraper {

/// The parts of all jobs discovered by this member of a fleet: whole jobs if nothing is divided.
/// For one strand.
class JobParts {
 public:
    /// \param on_change  called after a change of jobs() by anything except set_jobs()
    JobParts(const boost::asio::any_io_executor&, bool divided, std::function<void()> on_change);

    /// \param handover  how long to keep parts now owned by others
    void set_jobs(std::vector<k8s_sd::Job> whole, k8s_sd::Duration handover);
    /// Sets the share of this member.
    void share(const k8s_sd::FleetShare&);
    /// The jobs to discover.
    const std::vector<k8s_sd::Job>& jobs() const noexcept { return parts_; }
    /// Whether jobs() is final, as far as known.
    bool known(const k8s_sd::FleetStatus&) const;
    /// The reason the namespaces of the cluster cannot be watched; empty if there is none.
    std::string problem() const;
    /// The index of a failed configuration in the file: jobs() omits those without a part here.
    std::size_t place_in_file(const k8s_sd::ConfigFailure&) const;
    void stop();

 private:
    void update();
    void finish_handovers_later();
    void watch_namespaces();
    void on_namespaces(const k8s_sd::ObjectDiff<k8s_sd::api::Namespace>&);

    const boost::asio::any_io_executor strand_;
    const bool divided_;
    const std::function<void()> on_change_;
    k8s_sd::DividedDiscovery discovery_;
    boost::asio::steady_timer handover_timer_;
    /// Namespaces of the cluster, if configurations divided by namespaces name none.
    std::optional<k8s_sd::Watcher<k8s_sd::api::Namespace>> namespace_watcher_;
    k8s_sd::DiscoveryConfig watched_;  ///< the configuration with this server
    std::set<std::string> namespaces_;
    bool has_namespaces_ = false;
    std::vector<k8s_sd::Job> whole_;
    std::vector<k8s_sd::Job> parts_;
    bool stopped_ = false;
};

}  // namespace scraper
