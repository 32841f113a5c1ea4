#pragma once

#include "cli/fleet_options.hpp"
#include "http/http_routes.hpp"
#include "http/http_server.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace http {

/// This program as a member of a fleet, or alone: its share, and its status endpoint. For one
/// strand.
class Member {
 public:
    using OnShare = std::function<void(const k8s_sd::FleetShare&)>;

    /// \param on_share  called on the executor after each change of the share; not without a fleet
    /// \throws UsageError, k8s_sd::ConfigError, std::system_error if it cannot listen
    Member(const boost::asio::any_io_executor&, const cli::FleetOptions&,
           const k8s_sd::DiscoveryConfig& server, const k8s_sd::WarmStart& warm, OnShare on_share);
    ~Member() { stop(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    void start();
    void stop();
    /// Called for the end of the program. \returns whether the member must hand over first; `end`
    /// is called afterwards
    bool drains(std::function<void()> end);
    /// Reports that everything has been listed.
    void set_synced();
    bool is_synced() const noexcept { return synced_; }
    /// The present share: everything without a fleet.
    k8s_sd::FleetShare share() const;
    /// Without meaning outside of a fleet.
    k8s_sd::FleetStatus status() const;
    /// "member agent-0 of 3: agent-0, agent-1, agent-2", with the hold of the view; for users.
    std::string in_words() const;
    /// The URL it listens on; empty if it does not listen.
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

}  // namespace http
