#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/watcher.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace scraper {

/// The parts of all jobs that this member of a fleet discovers: all of them where nothing is
/// divided. For one strand.
class JobParts {
 public:
    /// \param on_change  jobs() are others now, and not because of set_jobs()
    JobParts(const boost::asio::any_io_executor&, bool divided, std::function<void()> on_change);

    /// \param handover  how long parts stay that others own now
    void set_jobs(std::vector<k8s_sd::Job> whole, k8s_sd::Duration handover);
    /// What this member owns from now on.
    void share(const k8s_sd::FleetShare&);
    /// What is to be discovered.
    const std::vector<k8s_sd::Job>& jobs() const noexcept { return parts_; }
    /// Whether jobs() are what they are going to be, as far as anybody can know.
    bool known(const k8s_sd::FleetStatus&) const;
    /// Why the namespaces of the cluster cannot be watched; empty: they can, or need not.
    std::string problem() const;
    /// Configurations of which this member has no part are not among those that can fail.
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
    /// Of the cluster, where configurations that are divided by namespaces name none.
    std::optional<k8s_sd::Watcher<k8s_sd::api::Namespace>> namespace_watcher_;
    k8s_sd::DiscoveryConfig watched_;  ///< whose server that is
    std::set<std::string> namespaces_;
    bool has_namespaces_ = false;
    std::vector<k8s_sd::Job> whole_;
    std::vector<k8s_sd::Job> parts_;
    bool stopped_ = false;
};

}  // namespace scraper
