#include "collectors/target_allocator.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <memory>
#include <utility>

namespace k8s_sd_program {

namespace {

/// Combines pods starting at the same time into one change.
constexpr auto min_pause = std::chrono::seconds(1);

std::vector<Collector> fixed_members(const TargetAllocatorOptions& options) {
    std::vector<Collector> members;
    for (unsigned i = 0; i < options.collectors; ++i) {
        members.push_back({options.prefix + std::to_string(i), {}});
    }
    return members;
}

k8s_sd::WatcherConfig pods_of(const TargetAllocatorOptions& options,
                              const k8s_sd::DiscoveryConfig& server) {
    k8s_sd::WatcherConfig config;
    config.api_server = server.api_server;
    config.kubeconfig_file = server.kubeconfig_file;
    config.kubeconfig_context = server.kubeconfig_context;
    config.label_selector = options.selector;
    config.min_update_interval = min_pause;
    if (options.ns.empty()) {
        config.own_namespace = true;
    } else {
        config.namespaces = {options.ns};
    }
    return config;
}

}  // namespace

TargetAllocator::TargetAllocator(const boost::asio::any_io_executor& strand,
                                 TargetAllocatorOptions options)
    : options_(std::move(options)),
      strand_(strand),
      history_(options_.allocation, options_.handover),
      pods_(options_.grace),
      timer_(options_.clock->make_timer(strand)) {
    if (options_.collectors > 0) history_.set(fixed_members(options_), {}, options_.clock->now());
}

void TargetAllocator::start(const k8s_sd::DiscoveryConfig& server) {
    if (options_.selector.empty()) return;
    watcher_.emplace(strand_, pods_of(options_, server),
                     [this](const auto& diff) { on_pods(diff); });
    watcher_->async_run(boost::asio::detached);
}

void TargetAllocator::on_pods(const k8s_sd::ObjectDiff<k8s_sd::api::Pod>& diff) {
    const auto now = options_.date();
    for (const auto& pod : diff.removed) pods_.remove(*pod);
    for (const auto& pod : diff.added) pods_.set(*pod, now);
    for (const auto& [before, after] : diff.changed) pods_.set(*after, now);
    update();
}

/// Called on changes, and at the end of a grace period or handover.
void TargetAllocator::update() {
    const auto now = options_.clock->now();
    const auto date = options_.date();
    history_.set(pods_.members(date), pods_.idle(date), now);
    history_.advance(now);
    auto next = history_.next_end();
    if (const auto change = pods_.next_change(date)) {
        const k8s_sd::TimePoint then = now + (*change - date);
        next = std::min(next.value_or(then), then);
    }
    if (!next) return;
    timer_->expires_at(*next, [this] { update(); });
}

void TargetAllocator::stop() {
    if (watcher_) watcher_->cancel();
    timer_->cancel();
}

std::string TargetAllocator::trouble() const {
    std::string text = "the pods of the collectors have not been listed yet";
    if (!watcher_) return text;
    const std::string message = watcher_->status().message;
    return message.empty() ? text : text + ", " + message;
}

std::vector<std::string> TargetAllocator::apply(
    const k8s_sd::ScrapeConfigFile& file, const std::vector<k8s_sd::MonitorJobPtr>& monitors) {
    std::vector<std::string> problems;
    if (!options_.enabled()) return problems;
    std::vector<std::string> of_monitors = monitors_.set(monitors);
    const auto body = [&](bool show_secrets) {
        problems.clear();
        return std::make_shared<const ListBody>(
            collector_configs(file, monitors_, show_secrets, problems));
    };
    masked_ = body(false);
    unmasked_ = body(true);
    for (std::string& problem : of_monitors) problems.push_back(std::move(problem));
    return problems;
}

}  // namespace k8s_sd_program
