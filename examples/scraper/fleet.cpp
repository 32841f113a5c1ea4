#include "fleet.hpp"

#include "metrics_server.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

namespace scraper {

namespace asio = boost::asio;

struct Fleet::Pod {
    std::string name;
    std::string app;
    std::string phase = "Running";
    std::string version = "v1";
    std::shared_ptr<MetricsServer> server;
};

Fleet::Fleet(asio::any_io_executor executor)
    : executor_(std::move(executor)), api_server_(executor_), timer_(executor_) {
    api_server_.listen();
    for (const char* app : {"cart", "web", "web"}) add_pod(app);
}

Fleet::~Fleet() {
    for (const auto& pod : pods_) pod->server->stop();
}

void Fleet::start_changes(std::chrono::milliseconds interval) {
    interval_ = interval;
    tick();
}

void Fleet::tick() {
    timer_.expires_after(interval_);
    // A tick that is queued when the fleet is destroyed finds nothing to change.
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code) {
        if (const auto fleet = weak.lock()) {
            fleet->change_something();
            fleet->tick();
        }
    });
}

void Fleet::change_something() {
    switch (steps_++ % 4) {
        case 0: return add_pod("web");
        case 1:
            // Reaches a meta label, no rule and so no series: the target goes on.
            pods_.back()->version = "v" + std::to_string(steps_);
            return apply(*pods_.back());
        case 2: return remove_oldest_pod();
        default: pods_.front()->phase = "Succeeded"; return apply(*pods_.front());
    }
}

void Fleet::add_pod(const std::string& app) {
    auto pod = std::make_unique<Pod>();
    pod->name = app + "-" + std::to_string(created_++);
    pod->app = app;
    pod->server = std::make_shared<MetricsServer>(executor_, pod->name);
    pod->server->start();
    apply(*pod);
    pods_.push_back(std::move(pod));
}

void Fleet::remove_oldest_pod() {
    const auto& oldest = *pods_.front();
    api_server_.remove("pods", "shop", oldest.name);
    oldest.server->stop();
    pods_.erase(pods_.begin());
}

void Fleet::apply(const Pod& pod) {
    const boost::json::object container{
        {"name", "main"},
        {"image", pod.app},
        {"ports",
         boost::json::array{boost::json::object{
             {"name", "http"}, {"containerPort", pod.server->port()}, {"protocol", "TCP"}}}}};
    api_server_.apply(boost::json::object{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", pod.name},
          {"namespace", "shop"},
          {"labels", {{"app", pod.app}}},
          {"annotations", {{"prometheus.io/scrape", "true"}, {"version", pod.version}}}}},
        {"spec", {{"nodeName", "node-1"}, {"containers", boost::json::array{container}}}},
        {"status", {{"phase", pod.phase}, {"podIP", "127.0.0.1"}, {"hostIP", "127.0.0.1"}}}});
}

}  // namespace scraper
