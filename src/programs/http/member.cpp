#include "http/member.hpp"

#include "cli/listen_address.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/query.hpp>
#include <string_view>
#include <utility>

namespace http {

namespace asio = boost::asio;

Member::Member(const asio::any_io_executor& executor, const cli::FleetOptions& options,
               const k8s_sd::DiscoveryConfig& server, const k8s_sd::WarmStart& warm,
               OnShare on_share)
    : executor_(executor), drain_(options.drain), drain_timer_(executor) {
    if (options.is_fleet()) {
        membership_.emplace(executor, membership_config(executor, options, server, warm),
                            std::move(on_share));
    }
    if (options.listen.empty()) return;
    server_ = std::make_shared<HttpServer>(executor, cli::listen_address(options.listen), routes());
}

void Member::start() {
    if (membership_) membership_->async_run(asio::detached);
    if (server_) server_->start();
}

void Member::stop() {
    if (membership_) membership_->cancel();
    if (server_) server_->stop();
    drain_timer_.cancel();
}

bool Member::drains(std::function<void()> end) {
    if (drain_ == k8s_sd::Duration{} || std::exchange(draining_, true)) return false;
    if (membership_) membership_->leave();
    drain_timer_.expires_after(drain_);
    drain_timer_.async_wait([end = std::move(end)](boost::system::error_code ec) {
        if (!ec) end();
    });
    return true;
}

void Member::set_synced() {
    synced_ = true;
    if (membership_) membership_->set_synced();
}

k8s_sd::FleetShare Member::share() const {
    return membership_ ? membership_->share() : k8s_sd::FleetShare();
}

k8s_sd::FleetStatus Member::status() const {
    return membership_ ? membership_->status() : k8s_sd::FleetStatus();
}

std::string Member::url() const { return server_ ? url_of(*server_) : std::string(); }

std::string Member::in_words() const {
    if (!membership_) return "alone";
    const k8s_sd::FleetStatus status = membership_->status();
    std::string text = "member " + membership_->share().self();
    if (status.view) {
        text += " of " + std::to_string(status.view->size());
        std::string_view separator = ": ";
        for (const std::string& name : status.view->members()) {
            text += std::string(std::exchange(separator, ", ")) + name;
        }
        if (!status.view->contains(membership_->share().self())) text += "; not one of them yet";
    }
    if (draining_) text += "; leaving";
    if (!status.snapshot.empty()) text += "; " + status.snapshot;
    if (!status.message.empty()) text += "; " + status.message;
    return text;
}

HttpRoutes Member::routes() const {
    HttpRoutes routes;
    routes.get("/livez", [](const auto&) { return text_reply(200, "ok\n"); });
    routes.get("/readyz", [this](const auto&) { return readiness(); });
    routes.get("/fleet", [this](const auto&) { return text_reply(200, in_words() + "\n"); });
    routes.get("/metrics", [this](const auto&) {
        auto& context = asio::query(executor_, asio::execution::context);
        return metrics_reply(k8s_sd::to_prometheus_text(*k8s_sd::metrics_of(context)));
    });
    return routes;
}

HttpServer::Reply Member::readiness() const {
    if (!synced_) return text_reply(503, "not everything has been listed yet\n");
    if (membership_ && !membership_->ready()) {
        return text_reply(503, membership_->status().message + "\n");
    }
    return text_reply(200, "ok\n");
}

}  // namespace http
