#include "job_parts.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace scraper {

namespace {

using Clock = std::chrono::steady_clock;

bool needs_namespaces(const k8s_sd::DiscoveryConfig& config) {
    const auto& names = config.namespaces;
    return config.division.by == k8s_sd::DivideBy::namespaces &&
           (names.empty() || std::find(names.begin(), names.end(), "") != names.end());
}

bool is_same_server(const k8s_sd::DiscoveryConfig& a, const k8s_sd::DiscoveryConfig& b) {
    return a.api_server == b.api_server && a.kubeconfig_file == b.kubeconfig_file &&
           a.kubeconfig_context == b.kubeconfig_context;
}

}  // namespace

JobParts::JobParts(const boost::asio::any_io_executor& strand, bool divided,
                   std::function<void()> on_change)
    : strand_(strand),
      divided_(divided),
      on_change_(std::move(on_change)),
      handover_timer_(strand) {}

void JobParts::set_jobs(std::vector<k8s_sd::Job> whole, k8s_sd::Duration handover) {
    whole_ = std::move(whole);
    discovery_.set_handover(handover);
    if (divided_) watch_namespaces();
    update();
}

void JobParts::share(const k8s_sd::FleetShare& share) {
    discovery_.share(share, Clock::now());
    if (divided_) finish_handovers_later();
    const auto before = parts_;
    update();
    if (parts_ != before) on_change_();
}

bool JobParts::known(const k8s_sd::FleetStatus& fleet) const {
    return !divided_ || (discovery_.knows_part(fleet) && (!namespace_watcher_ || has_namespaces_));
}

std::string JobParts::problem() const {
    if (!namespace_watcher_) return {};
    const std::string message = namespace_watcher_->status().message;
    return message.empty() ? message : "the namespaces to divide are not known: " + message;
}

std::size_t JobParts::place_in_file(const k8s_sd::ConfigFailure& failure) const {
    const auto job = std::find_if(whole_.begin(), whole_.end(),
                                  [&](const auto& j) { return j.name == failure.job; });
    std::size_t parts = 0;
    for (std::size_t place = 0; place < job->configs.size(); ++place) {
        if (discovery_.part_of(job->configs[place]) && parts++ == failure.config) return place;
    }
    return failure.config;
}

void JobParts::stop() {
    stopped_ = true;
    handover_timer_.cancel();
    namespace_watcher_.reset();
}

void JobParts::update() {
    parts_ = whole_;
    for (k8s_sd::Job& job : parts_) {
        job.configs = discovery_.parts_of(job.configs);
        // While the server is unreachable, the previous part's targets are better than none.
        if (divided_) job.supersede_timeout.reset();
    }
}

void JobParts::finish_handovers_later() {
    const auto next = discovery_.next_handover();
    if (!next) return;
    handover_timer_.expires_at(*next);
    handover_timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        discovery_.finish_handovers(Clock::now());
        finish_handovers_later();
        update();
        on_change_();
    });
}

/// On the first server with such a configuration. Configurations of other servers are not divided
/// by namespaces.
void JobParts::watch_namespaces() {
    std::optional<k8s_sd::DiscoveryConfig> first;
    for (k8s_sd::Job& job : whole_) {
        job.configs.edit_each([&](k8s_sd::DiscoveryConfig& config) {
            if (!needs_namespaces(config)) return;
            if (!first) first = config;
            if (!is_same_server(config, *first)) config.division = {};
        });
    }
    if (!first) return namespace_watcher_.reset();
    if (namespace_watcher_ && is_same_server(watched_, *first)) return;
    watched_ = *first;
    has_namespaces_ = false;
    k8s_sd::WatcherConfig where;
    where.api_server = first->api_server;
    where.kubeconfig_file = first->kubeconfig_file;
    where.kubeconfig_context = first->kubeconfig_context;
    where.watch = first->watch;
    where.fields = k8s_sd::Fields({"metadata.name"});
    namespace_watcher_.emplace(strand_, where, [this](const auto& diff) { on_namespaces(diff); });
    namespace_watcher_->async_run(boost::asio::detached);
}

void JobParts::on_namespaces(const k8s_sd::ObjectDiff<k8s_sd::api::Namespace>& diff) {
    if (diff.full) namespaces_.clear();
    for (const auto& ns : diff.removed) namespaces_.erase(std::string(ns->metadata.name));
    for (const auto& ns : diff.added) namespaces_.emplace(ns->metadata.name);
    has_namespaces_ = true;
    discovery_.set_namespaces({namespaces_.begin(), namespaces_.end()});
    update();
    on_change_();
}

}  // namespace scraper
