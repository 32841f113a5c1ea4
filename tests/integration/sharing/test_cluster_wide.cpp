#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/job_host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/router.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Three selected namespaces and another one, with a pod in each.
struct Namespaces : Simulation {
    Namespaces() : Simulation(json_server()) {
        for (const char* ns : {"a", "b", "c", "other"}) server.apply(web(ns));
    }
    static boost::json::object web(const std::string& ns, const std::string& ip = "10.0.0.1") {
        return pod({.name = "web", .ns = ns, .ip = ip});
    }
    DiscoveryConfig config(std::size_t cluster_wide_from = 3, Role role = Role::pod) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        config.namespaces = {"c", "a", "b"};
        config.watch.cluster_wide_from = cluster_wide_from;
        return config;
    }
    std::unique_ptr<Host> host(const DiscoveryConfig& config) {
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        settle();
        return host;
    }
    /// Answers lists and watches of all namespaces with an error, and serves those of one
    /// namespace.
    void refuse(unsigned status, const std::string& path = "/api/v1/pods") {
        server.set_intercept([status, path](const sim::Request& request) {
            std::optional<sim::Response> answer;
            if (request.path == path) answer = sim::Response::failure(status, "Refused", "refused");
            return answer;
        });
    }
    /// The requests since the last call, sorted: they run in parallel.
    std::vector<std::string> requests() {
        std::vector<std::string> requests = take_requests();
        for (std::string& request : requests)
            request = request.substr(0, request.find_first_of("?"));
        for (std::string& request : requests) request = request.substr(0, request.find(" from "));
        std::sort(requests.begin(), requests.end());
        requests.erase(std::unique(requests.begin(), requests.end()), requests.end());
        return requests;
    }
    const Metrics::PerKind& pods() const { return metrics->of(Kind::pod); }
};

using Texts = std::vector<std::string>;

const Texts one_for_all = {"LIST /api/v1/pods", "WATCH /api/v1/pods"};
const Texts one_for_each = {"LIST /api/v1/namespaces/a/pods",  "LIST /api/v1/namespaces/b/pods",
                            "LIST /api/v1/namespaces/c/pods",  "WATCH /api/v1/namespaces/a/pods",
                            "WATCH /api/v1/namespaces/b/pods", "WATCH /api/v1/namespaces/c/pods"};
const std::string everything = "[~pod/a/web ~pod/b/web ~pod/c/web]";

}  // namespace

TEST_CASE("Cluster-wide: one watch replaces those of many namespaces") {
    Namespaces n;
    const auto host = n.host(n.config());
    CHECK(n.requests() == one_for_all);
    CHECK(n.server.open_connections() == 1);
    CHECK(host->take_diffs() == everything);
    const auto watches = host->discoverer->status().watches;
    REQUIRE(watches.size() == 1);
    CHECK(watches[0].ns.empty());
    CHECK(watches[0].synced);
    CHECK(watches[0].objects == 3);

    n.server.apply(n.web("b", "10.0.0.2"));
    n.settle();
    CHECK(host->take_diffs() == "[~pod/b/web]");
    n.server.remove("pods", "a", "web");
    n.settle();
    CHECK(host->take_diffs() == "[-pod/a/web]");
    CHECK(host->complaints.empty());
}

TEST_CASE("Cluster-wide: bad objects of other namespaces are ignored, own ones are reported") {
    Namespaces n;
    const auto host = n.host(n.config());
    const auto send_bad = [&](const std::string& ns) {
        n.server.send_to_watches(
            "pods", R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{)"
                    R"("name":"web","namespace":")" +
                        ns + R"(","resourceVersion":"50"},"spec":7}})" + "\n");
        n.settle();
    };
    send_bad("other");
    CHECK(n.pods().bad_objects == 0);
    CHECK(n.take_log().empty());
    send_bad("b");
    CHECK(n.pods().bad_objects == 1);
    CHECK(n.take_log().size() == 1);
}

TEST_CASE("Cluster-wide: objects of other namespaces are neither kept nor counted") {
    Namespaces n;
    const auto host = n.host(n.config());
    host->take_diffs();
    for (int i = 0; i < 10; ++i) {
        n.server.apply(n.web("other", "10.0.1." + std::to_string(i)));
        n.server.apply(pod({.name = "more-" + std::to_string(i), .ns = "aa"}));
    }
    n.server.remove("pods", "other", "web");
    n.settle();
    CHECK(host->take_diffs().empty());
    CHECK(n.pods().objects == 3);
    CHECK(n.pods().added == 3);
    CHECK(n.pods().updated == 0);
    CHECK(n.pods().removed == 0);
    n.server.compact();
    n.server.disconnect_all();  // and a list of all namespaces returns none of them either
    n.advance(30s);
    CHECK(host->take_diffs().empty());
    CHECK(n.pods().objects == 3);
    CHECK(host->discoverer->status().watches[0].objects == 3);
}

TEST_CASE("Cluster-wide: not for fewer namespaces, and not where it is off") {
    Namespaces n;
    const auto host = n.host(n.config(GENERATE(as<std::size_t>(), 0, 4)));
    CHECK(n.requests() == one_for_each);
    CHECK(host->take_diffs() == everything);
    CHECK(host->discoverer->status().watches.size() == 3);
}

TEST_CASE("Cluster-wide: the response of a proxy does not divide the watch") {
    Namespaces n;
    n.server.set_intercept([](const sim::Request&) {
        sim::Response response;
        response.status = 403;
        response.content_type = "text/html";
        response.body = "<html>forbidden</html>";
        return std::optional(response);
    });
    const auto host = n.host(n.config());
    CHECK(host->discoverer->status().error == errc::forbidden);
    n.server.set_intercept({});
    n.requests();
    n.advance(1min);
    CHECK(n.requests() == one_for_all);
    CHECK(host->take_diffs() == everything);
    CHECK(n.pods().watchers == 1);
}

TEST_CASE("Cluster-wide: a missing API does not divide the watch") {
    Namespaces n;
    const auto host = n.host(n.config(3, Role::httproute));
    n.advance(1min);
    CHECK(host->discoverer->status().watches.size() == 2);  // routes, and their gateways
    for (const std::string& request : n.requests())
        CHECK(request.find("/namespaces/") == request.npos);
}

TEST_CASE("Cluster-wide: where it is refused, each namespace is watched, without an error") {
    const unsigned status = GENERATE(400U, 403U, 404U, 405U, 422U);
    CAPTURE(status);
    Namespaces n;
    n.refuse(status);
    auto host = n.host(n.config());
    Texts expected = one_for_each;
    expected.insert(expected.begin() + 3, "LIST /api/v1/pods");
    CHECK(n.requests() == expected);
    CHECK(host->take_diffs() == everything);
    const DiscovererStatus after = host->discoverer->status();
    CHECK(after.synced);
    CHECK_FALSE(after.error);
    CHECK(after.watches.size() == 3);
    CHECK(n.pods().watchers == 3);
    CHECK(n.take_log().empty());

    // The refusal is remembered, also for a role that begins later.
    const auto services = n.host(n.config(3, Role::service));
    host.reset();
    n.settle();
    CHECK(n.pods().watchers == 0);
    n.requests();
    host = n.host(n.config());
    CHECK(n.requests() == one_for_each);
    CHECK(host->take_diffs() == everything);
}

TEST_CASE("Cluster-wide: another failure is an error, and no reason to give up") {
    Namespaces n;
    n.refuse(GENERATE(401U, 429U, 500U));
    const auto host = n.host(n.config());
    n.advance(60s);
    CHECK(host->discoverer->status().error);
    CHECK(host->discoverer->status().watches.size() == 1);
    n.server.set_intercept({});
    n.advance(60s);
    CHECK(n.requests() == one_for_all);
    CHECK(host->take_diffs() == everything);
}

TEST_CASE("Cluster-wide: when the permission is revoked, the namespaces take over") {
    Namespaces n;
    const auto host = n.host(n.config());
    n.server.apply(pod({.name = "brief", .ns = "b"}));
    n.settle();
    host->take_diffs();
    n.requests();
    n.refuse(403);
    n.server.disconnect_all();
    n.server.apply(n.web("a", "10.0.0.9"));
    n.server.apply(pod({.name = "new", .ns = "c"}));
    n.server.remove("pods", "b", "brief");
    n.advance(60s);
    // Only real changes: nothing is removed and added again.
    std::string diffs = host->take_diffs();
    for (const char* part : {"~pod/a/web", "~pod/c/new", "-pod/b/brief"}) {
        CHECK(contains(diffs, part));
    }
    CHECK(std::count(diffs.begin(), diffs.end(), '/') == 6);
    CHECK(host->complaints.empty());
    const DiscovererStatus after = host->discoverer->status();
    CHECK(after.synced);
    CHECK_FALSE(after.error);
    CHECK(after.watches.size() == 3);
    CHECK(n.pods().objects == 4);
    CHECK(n.pods().watchers == 3);
    CHECK(n.pods().synced_watchers == 3);
    n.requests();
    n.server.apply(n.web("a", "10.0.0.10"));
    n.advance(60s);
    CHECK(host->take_diffs() == "[~pod/a/web]");
    CHECK(n.requests().empty());
}

TEST_CASE("Cluster-wide: what was known stays until its namespace is listed") {
    Namespaces n;
    const auto host = n.host(n.config());
    host->take_diffs();
    n.server.set_intercept([](const sim::Request& request) {
        std::optional<sim::Response> answer;
        if (request.path != "/api/v1/namespaces/a/pods") {
            answer = sim::Response::failure(403, "Forbidden", "revoked");
        }
        return answer;
    });
    n.server.disconnect_all();
    for (const char* ns : {"a", "b"}) n.server.apply(n.web(ns, "10.0.0.9"));
    n.advance(60s);
    CHECK(host->take_diffs() == "[~pod/a/web]");
    CHECK(host->groups.size() == 3);
    const DiscovererStatus status = host->discoverer->status();
    CHECK(status.synced);  // the complete state was delivered
    CHECK(status.error == errc::forbidden);
    n.server.set_intercept({});
    n.advance(60s);
    CHECK(host->take_diffs() == "[~pod/b/web]");
    CHECK_FALSE(host->discoverer->status().error);
    CHECK(host->complaints.empty());
}

TEST_CASE("Cluster-wide: a permission that was missed for a moment changes nothing") {
    Namespaces n;
    const auto host = n.host(n.config());
    n.requests();
    n.server.fail_next(sim::Response::failure(403, "Forbidden", "the authorizer is away"), 2);
    n.server.disconnect_all();
    n.advance(60s);
    // The first list returns one object and serves to read the server's version.
    CHECK(n.requests() == Texts{"LIST /api/v1/pods", "WATCH /api/v1/pods"});
    CHECK(n.pods().lists == 1);
    CHECK(n.pods().watchers == 1);
    CHECK_FALSE(host->discoverer->status().error);
}

TEST_CASE("Cluster-wide: each kind by itself") {
    Namespaces n;
    n.server.apply(service("front"));
    n.refuse(403, "/api/v1/services");
    const auto host = n.host(n.config(3, Role::endpointslice));
    CHECK(n.pods().watchers == 1);
    CHECK(n.metrics->of(Kind::service).watchers == 3);
    CHECK(n.metrics->of(Kind::endpointslice).watchers == 1);
    CHECK(host->discoverer->status().synced);
}

TEST_CASE("Cluster-wide: a refused request is repeated after an hour, without effect on hosts") {
    Namespaces n;
    n.refuse(403);
    const auto host = n.host(n.config());
    CHECK(host->take_diffs() == everything);
    n.requests();
    n.server.set_intercept({});
    n.refuse(403);
    int asked = 0;
    const auto ask_for = [&](Duration time) {
        n.advance(time);
        const Texts requests = n.requests();
        asked += static_cast<int>(std::count(requests.begin(), requests.end(), one_for_all[0]));
    };
    ask_for(59min);
    CHECK(asked == 0);
    ask_for(8min);
    CHECK(asked == 1);  // and it is refused again
    for (int i = 0; i < 24 * 6; ++i) ask_for(10min);
    CHECK(asked >= 20);
    CHECK(asked <= 25);
    CHECK(host->take_diffs().empty());
    CHECK_FALSE(host->discoverer->status().error);
    CHECK(host->discoverer->status().watches.size() == 3);
    CHECK(n.pods().watchers == 3);
    CHECK(n.take_log().empty());

    n.server.set_intercept({});
    n.advance(67min);
    CHECK(host->discoverer->status().watches.size() == 1);
    CHECK(n.pods().watchers == 1);
    CHECK(host->take_diffs().empty());
    n.server.apply(n.web("b", "10.0.0.2"));
    n.settle();
    CHECK(host->take_diffs() == "[~pod/b/web]");
    CHECK(host->complaints.empty());
}

TEST_CASE("Cluster-wide: no request is repeated after the last subscriber has left") {
    Namespaces n;
    n.refuse(403);
    auto host = n.host(n.config());
    const auto services = n.host(n.config(3, Role::service));
    host.reset();
    n.settle();
    n.requests();
    n.server.set_intercept({});
    n.advance(3h);
    const Texts requests = n.requests();
    CHECK(std::count(requests.begin(), requests.end(), one_for_all[0]) == 0);
}

TEST_CASE("Cluster-wide: a list that had too many objects is asked for again after a day") {
    Namespaces n;
    DiscoveryConfig config = n.config();
    config.watch.max_objects = 3;
    const auto host = n.host(config);
    CHECK(host->discoverer->status().watches.size() == 3);
    n.requests();
    n.advance(23h);
    Texts requests = n.requests();
    CHECK(std::count(requests.begin(), requests.end(), one_for_all[0]) == 0);
    n.server.remove("pods", "other", "web");
    n.advance(4h);
    CHECK(host->discoverer->status().watches.size() == 1);
    CHECK(host->complaints.empty());
}

namespace {

/// A running job whose watch for all namespaces was refused. The server permits it from now on.
struct JobRefusedBefore {
    JobRefusedBefore() {
        n.refuse(403);
        job.name = "j";
        job.configs = {n.config()};
        host.manager->apply_config({job});
        host.run();
        n.settle();
        n.requests();
        n.server.set_intercept({});
    }
    std::size_t watches() const {
        return host.manager->status().front().configs.front().status.watches.size();
    }

    Namespaces n;
    JobHost host{n.context.get_executor()};
    Job job;
};

}  // namespace

TEST_CASE("Cluster-wide: a configuration that is applied again asks again, once a minute at most") {
    JobRefusedBefore refused;
    auto& [n, host, job] = refused;
    // With any number of attempts: a recently refused request is not repeated each time.
    for (int i = 0; i < 10; ++i) {
        host.manager->apply_config({job});
        n.advance(1s);
    }
    Texts requests = n.requests();
    CHECK(std::count(requests.begin(), requests.end(), one_for_all[0]) == 0);
    n.advance(50s);
    CHECK(refused.watches() == 1);
    CHECK(n.pods().watchers == 1);
    CHECK(host.problems().empty());
}

TEST_CASE("Cluster-wide: another discoverer asks again, too") {
    JobRefusedBefore refused;
    Host another(refused.n.context.get_executor(), refused.n.config());
    another.run();
    refused.n.advance(1min + 10s);
    CHECK(refused.watches() == 1);
    CHECK(refused.n.pods().watchers == 1);
    CHECK(another.complaints.empty());
}

TEST_CASE("Cluster-wide: a configuration with further namespaces asks again, too") {
    JobRefusedBefore refused;
    auto& [n, host, job] = refused;
    DiscoveryConfig more = n.config();
    more.namespaces.push_back("other");
    job.configs = {more};
    host.manager->apply_config({job});
    n.advance(1min + 10s);
    CHECK(refused.watches() == 1);
    CHECK(n.pods().watchers == 1);
    CHECK(host.problems().empty());
}

TEST_CASE("Cluster-wide: what one server has refused is asked for on another one") {
    TwoServers s;
    for (const char* ns : {"a", "b", "c"}) {
        s.server.apply(Namespaces::web(ns));
        s.second.apply(Namespaces::web(ns));
    }
    s.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.path != "/api/v1/pods") return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "refused");
    });
    DiscoveryConfig config{.watch = plain_lists()};
    config.kubeconfig_file = s.kubeconfig();
    config.namespaces = {"a", "b", "c"};
    config.watch.cluster_wide_from = 3;
    Host host(s.context.get_executor(), config);
    host.run();
    s.settle();
    CHECK(host.discoverer->status().watches.size() == 3);
    s.lead_to("https://second");
    s.advance(75s);
    CHECK(host.discoverer->status().watches.size() == 1);
    CHECK_FALSE(host.discoverer->status().error);
    CHECK(s.second.open_watches() == 1);
    CHECK(host.complaints.empty());
}
