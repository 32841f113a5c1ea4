#include "scraped_targets.hpp"

#include "k8s_sd/sim/builders.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <algorithm>
#include <map>
#include <string_view>

namespace fleet {

namespace asio = boost::asio;
using http::HttpServer;

struct ScrapedTargets::Target {
    explicit Target(const asio::any_io_executor& executor)
        : server(std::make_shared<HttpServer>(
              executor, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0),
              [this](const HttpServer::Request& request, const HttpServer::Respond& respond) {
                  const auto agent = request.header(boost::beast::http::field::user_agent);
                  note(std::string(agent), Clock::now());
                  respond(http::text_reply(200, "up 1\n"));
              })) {
        server->start();
    }
    ~Target() { server->stop(); }

    void note(const std::string& by, Clock::time_point now) {
        longest = std::max(longest, now - last);
        last = now;
        was_scraped = true;
        scraped_by[by] = now;
    }

    std::shared_ptr<HttpServer> server;
    Clock::time_point last = Clock::now();
    Clock::duration longest{};
    bool was_scraped = false;
    std::map<std::string, Clock::time_point> scraped_by;
};

ScrapedTargets::ScrapedTargets(const asio::any_io_executor& executor, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) targets_.push_back(std::make_unique<Target>(executor));
}

ScrapedTargets::~ScrapedTargets() = default;

std::vector<boost::json::object> ScrapedTargets::pods() const {
    std::vector<boost::json::object> pods;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        pods.push_back(k8s_sd::sim::pod("shop", "web-" + std::to_string(i))
                           .ip("127.0.0.1")
                           .container("web", "web:1", targets_[i]->server->endpoint().port()));
    }
    return pods;
}

void ScrapedTargets::begin_phase() {
    begun_ = Clock::now();
    for (const auto& target : targets_) {
        target->longest = {};
        target->was_scraped = false;
    }
}

bool ScrapedTargets::all_scraped() const {
    return std::all_of(targets_.begin(), targets_.end(),
                       [](const auto& target) { return target->was_scraped; });
}

std::chrono::milliseconds ScrapedTargets::max_gap() const {
    Clock::duration longest{};
    for (const auto& target : targets_) {
        longest = std::max({longest, target->longest, Clock::now() - target->last});
    }
    return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
}

std::string ScrapedTargets::owners() const {
    std::map<std::string, std::size_t> counts;
    for (const auto& target : targets_) {
        for (const auto& [name, when] : target->scraped_by) {
            if (Clock::now() - when < std::chrono::seconds(2)) ++counts[name];
        }
    }
    std::string text;
    for (const auto& [name, count] : counts) {
        // "k8s_sd-scraper (agent-0)"
        const std::string member =
            name.substr(name.find('(') + 1, name.rfind(')') - name.find('(') - 1);
        text += (text.empty() ? "" : ", ") + member + ": " + std::to_string(count);
    }
    return text;
}

}  // namespace fleet
