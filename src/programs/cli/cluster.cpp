#include "cli/cluster.hpp"

#include "cli/rotating_objects.hpp"
#include "cli/server_options.hpp"
#include "cli/widgets.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/shop.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <utility>

namespace cli {

namespace asio = boost::asio;

class Cluster::Simulation : public std::enable_shared_from_this<Simulation> {
 public:
    Simulation(const asio::any_io_executor& executor, Scene scene)
        : server_(executor), step_(make(scene, server_)), timer_(asio::make_strand(executor)) {
        server_.listen();
    }

    std::string url() const { return server_.url(); }
    void start_changes(std::chrono::milliseconds interval, OnChange on_change) {
        interval_ = interval;
        on_change_ = std::move(on_change);
        tick();
    }

 private:
    /// Makes the next change and returns its description.
    using Step = std::function<std::string()>;

    static Step make(Scene scene, k8s_sd::sim::ApiServer& server) {
        if (scene == Scene::credentials) {
            return
                [objects = std::make_shared<RotatingObjects>(server)] { return objects->step(); };
        }
        if (scene == Scene::widgets)
            return [widgets = std::make_shared<Widgets>(server)] { return widgets->step(); };
        return [shop = std::make_shared<k8s_sd::sim::Shop>(server)] { return shop->step(); };
    }

    void tick() {
        timer_.expires_after(interval_);
        // A tick queued before the cluster is stopped must change nothing.
        timer_.async_wait([weak = weak_from_this()](boost::system::error_code) {
            const auto self = weak.lock();
            if (!self) return;
            const std::string what = self->step_();
            if (self->on_change_) self->on_change_(what);
            self->tick();
        });
    }

    k8s_sd::sim::ApiServer server_;
    Step step_;
    asio::steady_timer timer_;
    std::chrono::milliseconds interval_{};
    OnChange on_change_;
};

Cluster::Cluster(const asio::any_io_executor& executor, k8s_sd::DiscoveryConfig config, Scene scene)
    : config_(std::move(config)) {
    if (!names_server(config_)) {
        simulation_ = std::make_shared<Simulation>(executor, scene);
        config_.api_server.url = simulation_->url();
    }
    server_ = usable_server(config_);
}

Cluster::~Cluster() = default;

void Cluster::start_changes(std::chrono::milliseconds interval, OnChange on_change) {
    if (simulation_) simulation_->start_changes(interval, std::move(on_change));
}

void Cluster::stop() noexcept { simulation_.reset(); }

k8s_sd::DiscoveryConfig Cluster::config(k8s_sd::Role role) const {
    k8s_sd::DiscoveryConfig config = config_;
    config.role = role;
    return config;
}

k8s_sd::WatcherConfig Cluster::watcher_config() const {
    k8s_sd::WatcherConfig watcher;
    watcher.api_server = config_.api_server;
    watcher.kubeconfig_file = config_.kubeconfig_file;
    watcher.kubeconfig_context = config_.kubeconfig_context;
    return watcher;
}

Positional url_of_cluster(k8s_sd::DiscoveryConfig& config) {
    return {"URL", "the same as --api-server URL",
            [&](const std::string& value) { config.api_server.url = value; }};
}

}  // namespace cli
