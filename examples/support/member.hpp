#pragma once

#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/warm_start.hpp"
#include "support/fleet_options.hpp"
#include "support/http_routes.hpp"
#include "support/http_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace support {

/// This program as a member of a fleet, or alone: what it owns, and what it answers to those who
/// ask how it is. For one strand.
class Member {
 public:
    using OnShare = std::function<void(const k8s_sd::FleetShare&)>;

    /// \param on_share  called on the executor when the share changes; not without a fleet
    /// \throws UsageError, k8s_sd::ConfigError, std::system_error if it cannot listen
    Member(const boost::asio::any_io_executor&, const FleetOptions&,
           const k8s_sd::DiscoveryConfig& server, const k8s_sd::WarmStart& warm, OnShare on_share);
    ~Member() { stop(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    void start();
    void stop();
    /// The program is asked to end. \returns whether it has to go on for a while, and is asked to
    /// end again then
    bool drains(std::function<void()> end);
    /// Everything has been listed.
    void set_synced();
    bool is_synced() const noexcept { return synced_; }
    /// What is owned now: everything without a fleet.
    k8s_sd::FleetShare share() const;
    /// Nothing of interest without a fleet.
    k8s_sd::FleetStatus status() const;
    /// "member agent-0 of 3: agent-0, agent-1, agent-2", with what holds the view; for people.
    std::string in_words() const;
    /// Where it listens; empty: nowhere.
    std::string url() const;

 private:
    HttpRoutes routes() const;
    HttpServer::Reply readiness() const;

    const boost::asio::any_io_executor executor_;
    std::optional<k8s_sd::Membership> membership_;
    std::shared_ptr<HttpServer> server_;
    const k8s_sd::Duration drain_;
    boost::asio::steady_timer drain_timer_;
    bool draining_ = false;
    bool synced_ = false;
};

}  // namespace support
