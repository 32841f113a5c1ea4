// The exact requests of different jobs to the server, and the notifications of each job.

#include "support/contains.hpp"
#include "support/effort.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
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

using Texts = std::vector<std::string>;

struct Jobs : Simulation {
    Jobs() {
        for (const char* ns : {"a", "b"}) {
            for (const char* app : {"x", "y", "z"}) {
                server.apply(pod({.name = app, .ns = ns, .labels = {{"app", app}}}));
            }
        }
    }
    DiscoveryConfig config(const std::string& label = {}, const Texts& namespaces = {},
                           Role role = Role::pod) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        config.namespaces = namespaces;
        if (!label.empty()) config.selectors = {{role, label, ""}};
        return config;
    }
    std::unique_ptr<Host> start(const DiscoveryConfig& config) {
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        return host;
    }
    std::unique_ptr<Host> host(const DiscoveryConfig& config) {
        auto host = start(config);
        settle();
        return host;
    }
    /// Paths and selectors of the requests since the last call, sorted.
    Texts requests() {
        Texts texts;
        for (const sim::RequestRecord& record : server.requests()) {
            const sim::Request& request = record.request;
            std::string text = (request.is_watch() ? "WATCH " : "LIST ") + request.path;
            for (const char* selector : {"labelSelector", "fieldSelector"}) {
                const std::string value(request.param(selector));
                if (!value.empty()) text += " " + value;
            }
            texts.push_back(text);
        }
        server.clear_requests();
        std::sort(texts.begin(), texts.end());
        return texts;
    }
    /// Answers requests for that path without a selector with an error.
    void refuse(const std::string& path, unsigned status = 403) {
        server.set_intercept([path, status](const sim::Request& request) {
            std::optional<sim::Response> answer;
            const bool selects = !request.param("labelSelector").empty();
            if (request.path == path && !selects)
                answer = sim::Response::failure(status, "Refused", "refused");
            return answer;
        });
    }
    std::int64_t kept() const { return metrics->of(Kind::pod).objects; }
};

const Texts all_pods = {"LIST /api/v1/pods", "WATCH /api/v1/pods"};

}  // namespace

TEST_CASE("Shared watches: a hundred jobs with different selectors list and watch once") {
    Jobs j;
    std::vector<std::unique_ptr<Host>> hosts;
    for (int i = 0; i < 100; ++i) hosts.push_back(j.start(j.config("app!=x" + std::to_string(i))));
    j.settle();
    CHECK(j.requests() == all_pods);
    CHECK(j.server.open_connections() == 1);
    for (const auto& host : hosts) {
        CHECK(host->diffs == 1);
        CHECK(host->groups.size() == 6);
        CHECK(host->discoverer->status().watches.size() == 1);
    }
    j.server.apply(pod({.name = "x", .ns = "a", .labels = {{"app", "x7"}}}));
    j.settle();
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        CHECK(hosts[i]->groups.size() == (i == 7 ? 5 : 6));
        CHECK(hosts[i]->complaints.empty());
    }
    CHECK(j.requests().empty());
}

TEST_CASE("Shared watches: a job alone leaves its selectors to the server") {
    Jobs j;
    const auto host = j.host(j.config("app=x"));
    CHECK(j.requests() == Texts{"LIST /api/v1/pods app=x", "WATCH /api/v1/pods app=x"});
    CHECK(host->take_diffs() == "[~pod/a/x ~pod/b/x]");
    const auto second = j.host(j.config("app=x", {}, Role::pod));
    CHECK(j.requests().empty());
}

TEST_CASE("Shared watches: another selector costs one list, without effect on the other views") {
    Jobs j;
    const auto x = j.host(j.config("app=x"));
    j.requests();
    x->take_diffs();
    const auto y = j.host(j.config("app in (y)"));
    CHECK(j.requests() == all_pods);
    CHECK(y->take_diffs() == "[~pod/a/y ~pod/b/y]");
    CHECK(j.server.open_connections() == 1);
    CHECK(j.kept() == 4);
    const auto z = j.host(j.config("app,!tier,app notin (x,y)"));
    CHECK(j.requests() == all_pods);
    CHECK(z->take_diffs() == "[~pod/a/z ~pod/b/z]");
    CHECK(j.server.open_connections() == 1);
    CHECK(j.kept() == 6);
    for (const auto* host : {&x, &y, &z}) {
        CHECK((*host)->diffs == 1);
        CHECK((*host)->complaints.empty());
    }
}

TEST_CASE("Shared watches: an object that begins or ceases to match comes and goes for that job") {
    Jobs j;
    const auto x = j.start(j.config("app=x"));
    const auto y = j.host(j.config("app=y"));
    x->take_diffs();
    y->take_diffs();
    CHECK(j.kept() == 4);
    j.server.apply(pod({.name = "x", .ns = "a", .labels = {{"app", "y"}}}));
    j.settle();
    CHECK(x->take_diffs() == "[-pod/a/x]");
    CHECK(y->take_diffs() == "[~pod/a/x]");
    j.server.apply(pod({.name = "x", .ns = "a", .labels = {{"app", "other"}}}));
    j.settle();
    CHECK(x->take_diffs().empty());
    CHECK(y->take_diffs() == "[-pod/a/x]");
    CHECK(j.kept() == 3);
    j.server.apply(pod({.name = "z", .ns = "b", .labels = {{"app", "x"}}}));
    j.server.remove("pods", "b", "y");
    j.settle();
    CHECK(x->take_diffs() == "[~pod/b/z]");
    CHECK(y->take_diffs() == "[-pod/b/y]");
    CHECK(x->complaints + y->complaints == "");
}

TEST_CASE("Shared watches: labels equal in targets are distinguished") {
    Jobs j;
    const auto dot = j.start(j.config("a.b=1"));
    const auto dash = j.host(j.config("a-b=1"));
    j.server.apply(pod({.name = "p", .ns = "a", .labels = {{"a.b", "1"}}}));
    j.settle();
    CHECK(dot->groups.size() == 1);
    CHECK(dash->groups.empty());
    j.server.apply(pod({.name = "p", .ns = "a", .labels = {{"a-b", "1"}}}));
    j.settle();
    CHECK(dot->groups.empty());
    CHECK(dash->groups.size() == 1);
}

TEST_CASE("Shared watches: field selectors that name one thing stay with the server") {
    Jobs j;
    DiscoveryConfig node = j.config();
    const std::string field = GENERATE(as<std::string>(), "spec.nodeName=n1", "metadata.name=x",
                                       "spec.restartPolicy=Always");
    node.selectors = {{Role::pod, "", field}};
    const auto all = j.start(j.config());
    const auto one = j.host(node);
    CHECK(j.requests() == Texts{"LIST /api/v1/pods", "LIST /api/v1/pods " + field,
                                "WATCH /api/v1/pods", "WATCH /api/v1/pods " + field});
}

TEST_CASE("Shared watches: other field selectors are evaluated here") {
    Jobs j;
    j.server.apply(pod({.name = "done", .ns = "a", .phase = "Succeeded"}));
    DiscoveryConfig running = j.config();
    running.selectors = {{Role::pod, "", "status.phase!=Succeeded,metadata.namespace=a"}};
    const auto all = j.start(j.config());
    const auto host = j.host(running);
    CHECK(j.requests() == all_pods);
    CHECK(host->take_diffs() == "[~pod/a/x ~pod/a/y ~pod/a/z]");
}

TEST_CASE("Shared watches: attach options and dialects share what does not depend on them") {
    Jobs j;
    j.server.apply(service("web", {}, "a"));
    std::vector<std::unique_ptr<Host>> hosts;
    for (const bool attach : {false, true}) {
        for (const auto dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
            DiscoveryConfig config = j.config({}, {}, Role::endpoints);
            config.dialect = dialect;
            config.attach_metadata = {.node = attach, .namespace_ = attach};
            hosts.push_back(j.start(config));
        }
    }
    j.settle();
    // Labels of services, endpoints and nodes depend on the dialect.
    Texts expected;
    for (const char* method : {"LIST", "WATCH"}) {
        for (const char* plural : {"endpoints", "endpoints", "namespaces", "nodes", "nodes", "pods",
                                   "services", "services"}) {
            expected.push_back(std::string(method) + " /api/v1/" + plural);
        }
    }
    CHECK(j.requests() == expected);
}

TEST_CASE("Shared watches: who watches everything serves those who want some namespaces") {
    Jobs j;
    const auto a = j.start(j.config("", {"a"}));
    const auto b = j.start(j.config("app=x", {"b"}));
    const auto all = j.host(j.config());
    CHECK(j.requests() == all_pods);
    CHECK(a->take_diffs() == "[~pod/a/x ~pod/a/y ~pod/a/z]");
    CHECK(b->take_diffs() == "[~pod/b/x]");
    CHECK(all->groups.size() == 6);
}

TEST_CASE("Shared watches: when the one who wants everything leaves, the others watch their own") {
    Jobs j;
    const auto a = j.start(j.config("", {"a"}));
    auto all = j.host(j.config());
    j.requests();
    a->take_diffs();
    all.reset();
    j.settle();
    CHECK(j.requests() ==
          Texts{"LIST /api/v1/namespaces/a/pods", "WATCH /api/v1/namespaces/a/pods"});
    CHECK(j.server.open_connections() == 1);
    CHECK(j.kept() == 3);
    CHECK(a->take_diffs().empty());
    j.server.apply(pod({.name = "new", .ns = "a"}));
    j.settle();
    CHECK(a->take_diffs() == "[~pod/a/new]");
    CHECK(a->complaints.empty());
}

TEST_CASE("Shared watches: what the last job with a selector wanted is dropped") {
    Jobs j;
    const auto x = j.start(j.config("app=x"));
    const auto y = j.start(j.config("app=y"));
    auto z = j.host(j.config("app=z"));
    CHECK(j.kept() == 6);
    j.requests();
    z.reset();
    j.settle();
    CHECK(j.kept() == 4);
    CHECK(j.requests().empty());
    z = j.host(j.config("app=z"));
    CHECK(j.requests() == all_pods);
    CHECK(z->groups.size() == 2);
    CHECK(x->diffs + y->diffs == 2);
}

TEST_CASE("Shared watches: a host can have it otherwise") {
    Jobs j;
    DiscoveryConfig x = j.config("app=x");
    DiscoveryConfig y = j.config("app=y");
    x.watch.share_selectors = y.watch.share_selectors = SelectorSharing::never;
    const auto first = j.start(x);
    const auto second = j.host(y);
    CHECK(j.requests() == Texts{"LIST /api/v1/pods app=x", "LIST /api/v1/pods app=y",
                                "WATCH /api/v1/pods app=x", "WATCH /api/v1/pods app=y"});
}

TEST_CASE("Shared watches: narrow selections share where the host says so") {
    Jobs j;
    DiscoveryConfig x = j.config();
    x.selectors = {{Role::pod, "", "metadata.name=x"}};
    x.watch.share_selectors = SelectorSharing::always;
    DiscoveryConfig y = x;
    y.selectors = {{Role::pod, "", "metadata.name=y"}};
    const auto first = j.start(x);
    const auto second = j.host(y);
    CHECK(j.requests() == all_pods);
    CHECK(first->groups.size() == 2);
    CHECK(second->groups.size() == 2);
    CHECK(j.kept() == 4);
}

TEST_CASE("Shared watches: a larger watch that is refused is given up, without an error") {
    const unsigned status = GENERATE(403U, 404U, 400U);
    Jobs j;
    j.refuse("/api/v1/pods", status);
    const auto x = j.host(j.config("app=x"));
    const Texts of_x = {"LIST /api/v1/pods app=x", "WATCH /api/v1/pods app=x"};
    CHECK(j.requests() == of_x);
    const auto y = j.host(j.config("app=y"));
    Texts of_y = {"LIST /api/v1/pods", "LIST /api/v1/pods app=y", "WATCH /api/v1/pods app=y"};
    // 400 may be about a parameter of Accept: the request is repeated once without it.
    if (status == 400) of_y.insert(of_y.begin(), "LIST /api/v1/pods");
    CHECK(j.requests() == of_y);
    const auto z = j.host(j.config("app=z"));  // remembered
    CHECK(j.requests() == Texts{"LIST /api/v1/pods app=z", "WATCH /api/v1/pods app=z"});
    for (const auto* host : {&x, &y, &z}) {
        CHECK((*host)->diffs == 1);
        CHECK((*host)->groups.size() == 2);
        CHECK_FALSE((*host)->discoverer->status().error);
    }
    CHECK(j.take_log().empty());
}

TEST_CASE("Shared watches: who may not see all namespaces gets an error, the others do not") {
    Jobs j;
    j.refuse("/api/v1/pods");
    const auto a = j.start(j.config("", {"a"}));
    const auto all = j.host(j.config());
    CHECK(all->discoverer->status().error == errc::forbidden);
    CHECK(a->take_diffs() == "[~pod/a/x ~pod/a/y ~pod/a/z]");
    CHECK_FALSE(a->discoverer->status().error);
    j.server.set_intercept({});
    j.advance(60s);
    CHECK(all->groups.size() == 6);
    CHECK_FALSE(all->discoverer->status().error);
}

TEST_CASE("Shared watches: a permission that is revoked leaves everything as it is known") {
    Jobs j;
    const auto x = j.start(j.config("app=x"));
    const auto y = j.host(j.config("app=y"));
    x->take_diffs();
    y->take_diffs();
    j.refuse("/api/v1/pods");
    j.server.disconnect_all();
    j.server.apply(pod({.name = "new", .ns = "a", .labels = {{"app", "x"}}}));
    j.server.remove("pods", "b", "y");
    j.advance(60s);
    CHECK(x->take_diffs() == "[~pod/a/new]");
    CHECK(y->take_diffs() == "[-pod/b/y]");
    CHECK(x->complaints + y->complaints == "");
    CHECK(j.metrics->of(Kind::pod).watchers == 2);
    CHECK(j.kept() == 4);
}

TEST_CASE("Shared watches: while a list is under way, the jobs that were there go on") {
    Jobs j;
    const auto x = j.host(j.config("app=x"));
    x->take_diffs();
    j.server.fail_next(sim::Response::failure(500, "InternalError", "not now"), 3);
    const auto y = j.host(j.config("app=y"));
    CHECK(y->diffs == 0);
    CHECK(y->discoverer->status().error);
    CHECK(x->discoverer->status().error);  // of the watch that will serve both
    CHECK(x->discoverer->status().synced);
    j.server.apply(pod({.name = "new", .ns = "a", .labels = {{"app", "x"}}}));
    j.settle();
    CHECK(x->take_diffs() == "[~pod/a/new]");
    j.advance(60s);
    CHECK(y->diffs == 1);
    CHECK_FALSE(x->discoverer->status().error);
    CHECK(x->discoverer->status().watches.size() == 1);
    CHECK(x->take_diffs().empty());
    CHECK(j.server.open_connections() == 1);
    CHECK(x->complaints + y->complaints == "");
}

TEST_CASE("Shared watches: an object with ever changing labels reaches each view it matches") {
    // 17 have more subsets than the type has numbers.
    constexpr std::size_t selectors = is_sanitized ? 13 : 17;
    constexpr std::size_t subsets = std::size_t{1} << selectors;
    Jobs j;
    const Texts all_keys = [] {
        Texts keys;
        for (std::size_t i = 0; i < selectors; ++i) keys.push_back("k" + std::to_string(i));
        return keys;
    }();
    std::vector<std::unique_ptr<Host>> hosts;
    for (const std::string& key : all_keys) {
        DiscoveryConfig config = j.config(key);
        config.watch.protobuf = false;
        hosts.push_back(j.start(config));
    }
    j.settle();
    REQUIRE(j.requests() == all_pods);
    const auto event_of = [&](std::size_t subset) {
        std::string labels;
        for (std::size_t i = 0; i < selectors; ++i) {
            if ((subset >> i & 1U) != 0)
                labels += (labels.empty() ? "\"" : ",\"") + all_keys[i] + "\":\"\"";
        }
        return R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"p","namespace":"a",)"
               R"("uid":"u","resourceVersion":"1000","labels":{)" +
               labels +
               R"(}},"spec":{"containers":[{"name":"c"}]},"status":{"podIP":"1.2.3.4"}}})"
               "\n";
    };
    for (std::size_t next = 1; next < subsets;) {
        std::string events;
        const std::size_t last = std::min(next + 9'973, subsets - 1);
        for (; next <= last; ++next) events += event_of(next);
        j.server.send_to_watches("pods", events);
        j.settle();
        for (std::size_t i = 0; i < selectors; ++i) {
            CAPTURE(last, i);
            CHECK(hosts[i]->groups.contains("pod/a/p") == ((last >> i & 1U) != 0));
        }
    }
    CHECK(j.requests().empty());
    for (const auto& host : hosts) CHECK(host->complaints.empty());
}

TEST_CASE("Shared watches: jobs that come and go leave nothing behind") {
    Jobs j;
    {
        std::vector<std::unique_ptr<Host>> hosts;
        for (int i = 0; i < 30; ++i) {
            const Texts namespaces = i % 3 == 0 ? Texts{} : Texts{i % 3 == 1 ? "a" : "b"};
            const Texts labels = {"", "app=x", "app=y", "app!=z"};
            hosts.push_back(j.start(j.config(labels[static_cast<std::size_t>(i) % 4], namespaces)));
            if (i % 4 == 0) j.context.poll_one();
            if (i % 5 == 0) hosts.erase(hosts.begin());
        }
        j.settle();
        CHECK(j.server.open_connections() == 1);
        for (const auto& host : hosts) CHECK(host->diffs == 1);
        hosts[3]->after_diff = [&](const auto&) { hosts[4]->discoverer.reset(); };
        hosts[4]->after_diff = [&](const auto&) { hosts[4]->discoverer->cancel(); };
        j.server.apply(pod({.name = "x", .ns = "a", .ip = "10.9.9.9", .labels = {{"app", "x"}}}));
        j.server.apply(pod({.name = "x", .ns = "b", .ip = "10.9.9.9", .labels = {{"app", "x"}}}));
        j.settle();
    }
    j.settle();
    CHECK(j.server.open_connections() == 0);
    CHECK(j.kept() == 0);
    CHECK(j.metrics->of(Kind::pod).watchers == 0);
    CHECK(j.clock->next_expiry() == TimePoint::max());
}
