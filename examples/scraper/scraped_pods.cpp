#include "scraped_pods.hpp"

#include <boost/beast/core/detail/base64.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>
#include <utility>

namespace scraper {

namespace asio = boost::asio;

namespace {

std::string base64(std::string_view text) {
    namespace encoding = boost::beast::detail::base64;
    std::string result(encoding::encoded_size(text.size()), '\0');
    result.resize(encoding::encode(result.data(), text.data(), text.size()));
    return result;
}

}  // namespace

struct ScrapedPods::Pod {
    std::string name;
    std::string app;
    std::string phase = "Running";
    std::string version = "v1";
    std::unique_ptr<MetricsServer> server;
};

ScrapedPods::ScrapedPods(asio::any_io_executor executor)
    : executor_(std::move(executor)),
      api_server_(executor_),
      timer_(executor_),
      tokens_(std::make_shared<AcceptedTokens>()) {
    api_server_.listen();
    rotate_token();
    for (const char* app : {"web", "web", "cart"}) add_pod(app);
}

ScrapedPods::~ScrapedPods() = default;

void ScrapedPods::start_changes(std::chrono::milliseconds interval) {
    interval_ = interval;
    tick();
}

void ScrapedPods::tick() {
    timer_.expires_after(interval_);
    // A tick queued before the destruction of the fleet must change nothing.
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code) {
        if (const auto pods = weak.lock()) {
            pods->rotate_token();
            pods->change_something();
            pods->tick();
        }
    });
}

void ScrapedPods::change_something() {
    switch (steps_++ % 4) {
        case 0: return add_pod(created_ % 2 == 0 ? "web" : "cart");
        case 1:
            // Changes a meta label without effect on rules or series: the target continues.
            pods_.back()->version = "v" + std::to_string(steps_);
            return apply(*pods_.back());
        case 2: return remove_oldest_pod();
        default: pods_.front()->phase = "Succeeded"; return apply(*pods_.front());
    }
}

void ScrapedPods::rotate_token() {
    tokens_->previous = tokens_->current;
    tokens_->current = "token-" + std::to_string(steps_);
    api_server_.apply(
        boost::json::object{{"apiVersion", "v1"},
                            {"kind", "Secret"},
                            {"metadata", {{"name", "metrics"}, {"namespace", "shop"}}},
                            {"data", {{"token", base64(tokens_->current)}}}});
}

void ScrapedPods::add_pod(const std::string& app) {
    auto pod = std::make_unique<Pod>();
    pod->name = app + "-" + std::to_string(created_++);
    pod->app = app;
    pod->server =
        std::make_unique<MetricsServer>(executor_, pod->name, app == "cart" ? tokens_ : nullptr);
    apply(*pod);
    pods_.push_back(std::move(pod));
}

void ScrapedPods::remove_oldest_pod() {
    const auto& oldest = *pods_.front();
    api_server_.remove("pods", "shop", oldest.name);
    pods_.erase(pods_.begin());
}

void ScrapedPods::apply(const Pod& pod) {
    boost::json::object annotations{{"prometheus.io/scrape", "true"}, {"version", pod.version}};
    if (pod.app == "cart") annotations["metrics-token"] = "metrics/token";
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
          {"annotations", annotations}}},
        {"spec", {{"nodeName", "node-1"}, {"containers", boost::json::array{container}}}},
        {"status", {{"phase", pod.phase}, {"podIP", "127.0.0.1"}, {"hostIP", "127.0.0.1"}}}});
}

}  // namespace scraper
