#pragma once

#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

using namespace std::chrono_literals;
using sim::Response;
using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

/// Two pods, and a watcher of them; every test ends with a check of recovery.
struct Faults : Simulation {
    explicit Faults(WatchOptions options = plain_lists(), const ApiServerConfig& api_server = {},
                    sim::TransportFaults faults = {})
        : Simulation(json_server(), faults), probe(*this, {}, options, api_server) {
        for (const char* name : {"a", "b"}) version = server.apply(pod({.name = name}));
    }
    void start() {
        probe.start();
        advance(2s);  // the watch has been open long enough to count as working
        probe.take_changes();
        take_requests();
        take_log();
    }
    Metrics::PerKind& counters() { return metrics->of(Kind::pod); }
    /// Answers every watch with `response`.
    void answer_watches(const Response& response) {
        server.set_intercept([response](const sim::Request& request) -> std::optional<Response> {
            return request.is_watch() ? std::optional(response) : std::nullopt;
        });
    }
    /// Time passes without faults: the watcher must have the complete state, and follow changes.
    void check_recovered() {
        server.set_intercept({});
        server.accept_connections(true);
        advance(120s);
        server.apply(pod({.name = "late"}));
        settle();
        CHECK(probe.names().contains("late"));
        CHECK(probe.watcher().size() == server.count("pods"));
        CHECK_FALSE(probe.status().error);
        CHECK(probe.status().message.empty());
        CHECK(probe.status().failures == 0);
        CHECK(server.open_watches() == 1);
        CHECK(server.open_connections() == 1);
    }

    WatchProbe probe;
    std::string version;
};

inline std::string list_of(const std::string& items, const std::string& version = "900",
                           const std::string& more = {}) {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
           "\"" + more + R"(},"items":[)" + items + "]}";
}

inline Response body(std::string text, std::string content_type = "application/json") {
    Response response;
    response.body = std::move(text);
    response.content_type = std::move(content_type);
    return response;
}

}  // namespace k8s_sd::test
