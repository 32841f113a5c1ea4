#include "watch_check.hpp"

#include "cli/option_values.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/monitors/monitor_access.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace discover {

namespace asio = boost::asio;
using k8s_sd::AccessCheckLine;

namespace {

k8s_sd::WatcherConfig watch_of(const k8s_sd::DiscoveryConfig& server,
                               k8s_sd::ResourceName resource) {
    k8s_sd::WatcherConfig config;
    config.api_server = server.api_server;
    config.kubeconfig_file = server.kubeconfig_file;
    config.kubeconfig_context = server.kubeconfig_context;
    // Values are of no interest, and neither is who exists.
    if (resource.group.empty()) config.field_selector = "metadata.name=k8s-sd-check";
    config.resource = std::move(resource);
    config.fields = {"metadata"};
    return config;
}

std::string step_of(const k8s_sd::WatcherConfig& watch) {
    std::string text = "list and watch " + watch.resource.kind + " objects in ";
    if (watch.namespaces.empty()) return text + "all namespaces";
    return text + (watch.namespaces.size() == 1 ? "the namespace " : "the namespaces ") +
           cli::printable(cli::listed(watch.namespaces, 20), 1000);
}

}  // namespace

std::vector<k8s_sd::WatcherConfig> watches_of_monitors(const k8s_sd::DiscoveryConfig& server) {
    std::vector<k8s_sd::WatcherConfig> watches;
    for (const k8s_sd::MonitorKind kind : k8s_sd::monitor_kinds_of(server.dialect)) {
        watches.push_back(watch_of(server, {.group = std::string(k8s_sd::api_group_of(kind)),
                                            .kind = std::string(to_string(kind))}));
    }
    for (const k8s_sd::ResourceName& resource :
         {k8s_sd::ResourceName{
              .kind = "Namespace", .version = "v1", .plural = "namespaces", .namespaced = false},
          k8s_sd::ResourceName{
              .kind = "Secret", .version = "v1", .plural = "secrets", .namespaced = true},
          k8s_sd::ResourceName{
              .kind = "ConfigMap", .version = "v1", .plural = "configmaps", .namespaced = true}}) {
        watches.push_back(watch_of(server, resource));
    }
    return watches;
}

std::vector<k8s_sd::WatcherConfig> watches_of_profiles(const k8s_sd::DiscoveryConfig& hub,
                                                       const cli::ProfileOptions& options) {
    std::vector<k8s_sd::WatcherConfig> watches{
        watch_of(hub, {.group = "multicluster.x-k8s.io", .kind = "ClusterProfile"}),
        watch_of(hub,
                 {.kind = "Secret", .version = "v1", .plural = "secrets", .namespaced = true})};
    for (k8s_sd::WatcherConfig& watch : watches) watch.namespaces = options.namespaces;
    return watches;
}

class WatchCheck::Impl : public std::enable_shared_from_this<Impl> {
 public:
    Impl(asio::any_io_executor executor, std::vector<k8s_sd::WatcherConfig> watches,
         k8s_sd::Duration step_timeout, k8s_sd::AccessCheckHandler on_line, Done done)
        : executor_(std::move(executor)),
          watches_(std::move(watches)),
          step_timeout_(step_timeout),
          on_line_(std::move(on_line)),
          done_(std::move(done)),
          timer_(executor_) {}

    void next() {
        watcher_.reset();
        timer_.cancel();
        if (stopped_) return;
        if (step_ == watches_.size()) return done_(all_fine_);
        began_ = std::chrono::steady_clock::now();
        watcher_.emplace(executor_, watches_[step_],
                         [this](const auto&) { end(true, "allowed", {}); });
        watcher_->set_status_callback([this](const k8s_sd::DiscovererStatus& status) {
            if (status.error) end(false, status.message, status.error);
        });
        watcher_->async_run([](k8s_sd::error_code) {});
        timer_.expires_after(step_timeout_);
        timer_.async_wait([self = shared_from_this(), step = step_](boost::system::error_code ec) {
            if (!ec && step == self->step_) self->end(false, "no answer in time", {});
        });
    }
    void stop() {
        stopped_ = true;
        watcher_.reset();
        timer_.cancel();
    }

 private:
    void end(bool fine, std::string text, k8s_sd::error_code ec) {
        if (stopped_ || reported_ == step_ + 1) return;
        reported_ = step_ + 1;
        all_fine_ = all_fine_ && fine;
        AccessCheckLine line;
        line.step = step_of(watches_[step_]);
        line.result = fine ? AccessCheckLine::Result::ok : AccessCheckLine::Result::failed;
        line.text = std::move(text);
        line.ec = ec;
        line.took = std::chrono::steady_clock::now() - began_;
        on_line_(line);
        // The caller is a callback of the watcher.
        asio::post(executor_, [self = shared_from_this()] {
            ++self->step_;
            self->next();
        });
    }

    asio::any_io_executor executor_;
    const std::vector<k8s_sd::WatcherConfig> watches_;
    const k8s_sd::Duration step_timeout_;
    const k8s_sd::AccessCheckHandler on_line_;
    const Done done_;
    asio::steady_timer timer_;
    std::optional<k8s_sd::Watcher<k8s_sd::Generic>> watcher_;
    std::size_t step_ = 0;
    std::size_t reported_ = 0;  ///< steps with a line
    bool all_fine_ = true;
    bool stopped_ = false;
    std::chrono::steady_clock::time_point began_{};
};

WatchCheck::WatchCheck(asio::any_io_executor executor, std::vector<k8s_sd::WatcherConfig> watches,
                       k8s_sd::Duration step_timeout, k8s_sd::AccessCheckHandler on_line, Done done)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(watches), step_timeout,
                                   std::move(on_line), std::move(done))) {
    impl_->next();
}

WatchCheck::~WatchCheck() { impl_->stop(); }

}  // namespace discover
