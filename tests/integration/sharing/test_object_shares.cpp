// Replicas with one share of the objects each, on servers that support, do not support or refuse
// shardSelector: their requests, and that each has exactly its own objects.

#include "k8s_sd/selector.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/job_host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Gate = sim::ApiServer::ShardGate;

namespace {

using Sources = std::set<std::string>;
using Texts = std::vector<std::string>;

/// A server with pods "p0" to "p19", and hosts that each have a share of them.
struct Shares : Simulation {
    explicit Shares(Gate gate = Gate::on) {
        for (int i = 0; i < 20; ++i) server.apply(pod({.name = "p" + std::to_string(i)}));
        server.set_shard_gate(gate);
    }
    DiscoveryConfig config(const ObjectShare& share, bool streamed = false) const {
        DiscoveryConfig config{.share = share, .watch = plain_lists()};
        config.api_server.url = server.url();
        config.watch.watch_list = streamed;
        return config;
    }
    std::unique_ptr<Host> host(const DiscoveryConfig& config) {
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        settle();
        return host;
    }
    /// The sources in the share at this moment.
    Sources expected(const ObjectShare& share) const {
        Sources sources;
        for (const boost::json::object& object : server.list("pods")) {
            const auto& meta = object.at("metadata").as_object();
            if (share.contains(std::string(meta.at("uid").as_string())))
                sources.insert("pod/default/" + std::string(meta.at("name").as_string()));
        }
        return sources;
    }
    /// "LIST", "WATCH", or "LIST 1/2" for a request with the first half of all hashes, and so on.
    Texts requests() {
        Texts texts;
        for (const sim::RequestRecord& record : server.requests()) {
            const sim::Request& request = record.request;
            std::string text = request.is_watch() ? "WATCH" : "LIST";
            if (request.flag("sendInitialEvents")) text = "WATCHLIST";
            const std::string selector(request.param("shardSelector"));
            if (selector == ObjectShare::part(0, 2).selector()) text += " 1/2";
            if (selector == ObjectShare::part(1, 2).selector()) text += " 2/2";
            texts.push_back(text);
        }
        server.clear_requests();
        return texts;
    }
    /// Answers requests with a shardSelector like a server that cannot parse it.
    void refuse(unsigned status = 500) {
        server.set_intercept([status](const sim::Request& request) {
            std::optional<sim::Response> answer;
            if (!request.param("shardSelector").empty())
                answer = sim::Response::failure(status, "", "no shardSelector");
            return answer;
        });
    }
    std::int64_t kept() const { return metrics->of(Kind::pod).objects; }

    const ObjectShare first = ObjectShare::part(0, 2);
    const ObjectShare second = ObjectShare::part(1, 2);
};

Sources sources_of(const Host& host) {
    Sources sources;
    for (const auto& [source, group] : host.groups) sources.insert(source);
    return sources;
}

std::optional<bool> sharded(const Host& host) {
    return host.discoverer->status().watches.at(0).server_sharded;
}

std::string name_of(const std::string& source) { return source.substr(source.rfind('/') + 1); }

}  // namespace

TEST_CASE("Shares: a server that shards sends each replica its own objects") {
    const bool protobuf = GENERATE(false, true);
    Shares s;
    DiscoveryConfig config = s.config(s.first);
    config.watch.protobuf = protobuf;
    const auto a = s.host(config);
    CHECK(s.requests() == Texts{"LIST 1/2", "WATCH 1/2"});
    config.share = s.second;
    const auto b = s.host(config);
    CHECK(s.requests() == Texts{"LIST 2/2", "WATCH 2/2"});
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sources_of(*b) == s.expected(s.second));
    CHECK(a->groups.size() + b->groups.size() == 20);
    CHECK(a->groups.size() > 4);
    CHECK(b->groups.size() > 4);
    CHECK(s.kept() == 20);
    CHECK(sharded(*a) == true);
    CHECK(s.take_log().empty());
}

TEST_CASE("Shares: equal shares share a watch") {
    Shares s;
    const auto a = s.host(s.config(s.first));
    const auto b = s.host(s.config(ObjectShare({{0, 1}, {1, 1ULL << 63U}})));
    CHECK(s.requests() == Texts{"LIST 1/2", "WATCH 1/2"});
    CHECK(sources_of(*b) == s.expected(s.first));
}

TEST_CASE("Shares: a share and everything have a watch each") {
    Shares s;
    const auto all = s.host(s.config({}));
    s.requests();
    const auto a = s.host(s.config(s.first));
    CHECK(s.requests() == Texts{"LIST 1/2", "WATCH 1/2"});
    CHECK(all->groups.size() == 20);
    CHECK(sources_of(*a) == s.expected(s.first));
}

TEST_CASE("Shares: changes come to who has the object, on any server") {
    const Gate gate = GENERATE(Gate::off, Gate::on, Gate::mixed);
    const bool streamed = GENERATE(false, true);
    Shares s(gate);
    const auto a = s.host(s.config(s.first, streamed));
    const auto b = s.host(s.config(s.second, streamed));
    s.advance(1min);
    a->take_diffs();
    b->take_diffs();
    const std::string in_a = *s.expected(s.first).begin();
    const std::string in_b = *s.expected(s.second).begin();
    s.server.apply(pod({.name = name_of(in_a), .labels = {{"x", "1"}}}));
    s.settle();
    CHECK(a->take_diffs() == "[~" + in_a + "]");
    CHECK(b->take_diffs().empty());
    s.server.remove("pods", "default", name_of(in_b));
    s.settle();
    CHECK(a->take_diffs().empty());
    CHECK(b->take_diffs() == "[-" + in_b + "]");
    for (int i = 20; i < 40; ++i) s.server.apply(pod({.name = "p" + std::to_string(i)}));
    s.settle();
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sources_of(*b) == s.expected(s.second));
    CHECK(a->complaints.empty());
    CHECK(b->complaints.empty());
}

TEST_CASE("Shares: an object of the same name may be in another share") {
    const Gate gate = GENERATE(Gate::off, Gate::on, Gate::mixed);
    Shares s(gate);
    const auto a = s.host(s.config(s.first));
    const auto b = s.host(s.config(s.second));
    const std::string in_a = *s.expected(s.first).begin();
    std::string uid = "0";
    while (!s.second.contains(uid)) uid += '0';
    s.server.remove("pods", "default", name_of(in_a));
    s.server.apply(pod({.name = name_of(in_a), .uid = uid}));
    s.settle();
    CHECK(s.expected(s.second).contains(in_a));
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sources_of(*b) == s.expected(s.second));
}

TEST_CASE("Shares: a server that does not know shards sends everything, and the share is kept") {
    Shares s(Gate::off);
    const auto a = s.host(s.config(s.first));
    CHECK(s.requests() == Texts{"LIST 1/2", "WATCH 1/2"});
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(s.kept() == static_cast<std::int64_t>(a->groups.size()));
    CHECK(sharded(*a) == false);
    CHECK(s.take_log().empty());
}

TEST_CASE("Shares: a streamed list shows by its objects that the server does not shard") {
    Shares s(Gate::off);
    const auto a = s.host(s.config(s.first, true));
    CHECK(s.requests() == Texts{"WATCHLIST 1/2"});
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sharded(*a) == false);
}

TEST_CASE("Shares: a short streamed list of a server that shards says nothing of it") {
    Shares s;
    const auto a = s.host(s.config(s.first, true));
    CHECK(s.requests() == Texts{"WATCHLIST 1/2"});
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK_FALSE(sharded(*a).has_value());
}

TEST_CASE("Shares: a long streamed list shows by its objects that the server shards") {
    const Gate gate = GENERATE(Gate::off, Gate::on);
    Shares s(gate);
    for (int i = 20; i < 80; ++i) s.server.apply(pod({.name = "p" + std::to_string(i)}));
    const auto a = s.host(s.config(s.first, true));
    REQUIRE(a->groups.size() >= 20);
    CHECK(sharded(*a) == (gate == Gate::on));
}

TEST_CASE("Shares: an empty share is complete when the server says so") {
    const Gate gate = GENERATE(Gate::off, Gate::on);
    const bool streamed = GENERATE(false, true);
    Shares s(gate);
    const auto a = s.host(s.config(ObjectShare({{0, 1}}), streamed));
    CHECK(a->diffs == 1);
    CHECK(a->groups.empty());
    CHECK(a->discoverer->status().synced);
}

TEST_CASE("Shares: where servers differ, the list is of the share and the watch is filtered here") {
    Shares s(Gate::mixed);
    const auto a = s.host(s.config(s.first));
    CHECK(sharded(*a) == true);
    s.server.apply(pod({.name = name_of(*s.expected(s.second).begin()), .labels = {{"x", "1"}}}));
    s.settle();
    CHECK(sharded(*a) == false);
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(s.kept() == static_cast<std::int64_t>(a->groups.size()));
}

TEST_CASE("Shares: several shares of a server that does not shard have one watch of everything") {
    const bool streamed = GENERATE(false, true);
    Shares s(Gate::off);
    const auto a = s.host(s.config(s.first, streamed));
    CHECK(s.server.open_watches() == 1);
    const auto b = s.host(s.config(s.second, streamed));
    s.advance(1min);
    CHECK(s.server.open_watches() == 1);
    CHECK(s.requests().back() == (streamed ? "WATCHLIST" : "WATCH"));
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sources_of(*b) == s.expected(s.second));
    CHECK(a->diffs == 1);
    const auto c = s.host(s.config({}, streamed));
    CHECK(s.server.open_watches() == 1);
    CHECK(c->groups.size() == 20);
    CHECK(s.kept() == 20);
}

TEST_CASE("Shares: another share of a server that does not shard costs one list of everything") {
    Shares s(Gate::off);
    auto a = s.host(s.config(s.first));
    s.requests();
    const auto b = s.host(s.config(s.second));
    CHECK(s.requests() == Texts{"LIST", "WATCH"});
    a.reset();
    s.advance(1min);
    CHECK(s.requests().empty());
    CHECK(sources_of(*b) == s.expected(s.second));
    CHECK(s.kept() == static_cast<std::int64_t>(b->groups.size()));
}

TEST_CASE("Shares: who begins together is put together when the server turns out not to shard") {
    Shares s(Gate::off);
    Host a(s.context.get_executor(), s.config(s.first));
    Host b(s.context.get_executor(), s.config(s.second));
    a.run();
    b.run();
    s.advance(1min);
    CHECK(s.server.open_watches() == 1);
    CHECK(sources_of(a) == s.expected(s.first));
    CHECK(sources_of(b) == s.expected(s.second));
    CHECK(a.diffs == 1);
    CHECK(b.diffs == 1);
}

TEST_CASE("Shares: a server that refuses the parameter is asked without it at once") {
    const unsigned status = GENERATE(400U, 422U, 500U);
    Shares s;
    s.refuse(status);
    const auto a = s.host(s.config(s.first));
    CHECK(s.requests() == Texts{"LIST 1/2", "LIST", "WATCH"});
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sharded(*a) == false);
    CHECK_FALSE(a->discoverer->status().error);
    const Texts log = s.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log.front(), "/api/v1/pods: the server refuses the parameter shardSelector"));

    // The result is remembered, and not requested again for an hour.
    const auto b = s.host(s.config(s.second));
    CHECK(s.requests() == Texts{"LIST", "WATCH"});
    CHECK(s.server.open_watches() == 1);
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(sources_of(*b) == s.expected(s.second));
    CHECK(s.take_log().empty());
}

TEST_CASE("Shares: a streamed list that is refused is asked for without the parameter") {
    Shares s;
    s.refuse();
    const auto a = s.host(s.config(s.first, true));
    CHECK(s.requests() == Texts{"WATCHLIST 1/2", "WATCHLIST"});
    CHECK(sources_of(*a) == s.expected(s.first));
}

TEST_CASE("Shares: an hour later the parameter is tried again") {
    Shares s;
    s.refuse();
    const auto a = s.host(s.config(s.first));
    s.server.set_intercept({});
    s.requests();
    s.advance(50min);
    for (const std::string& request : s.requests()) CHECK(request == "WATCH");
    s.advance(30min);
    CHECK(s.requests().back() == "WATCH 1/2");
    CHECK(sources_of(*a) == s.expected(s.first));
}

TEST_CASE("Shares: an outage is not taken for a refusal") {
    Shares s;
    s.server.set_intercept(
        [](const sim::Request&) { return sim::Response::failure(500, "InternalError", "down"); });
    const auto a = s.host(s.config(s.first));
    CHECK(s.requests() == Texts{"LIST 1/2", "LIST"});
    s.server.fail_next(sim::Response::failure(503, "ServiceUnavailable", "down"), 1, "/api");
    s.server.set_intercept({});
    s.advance(1min);
    CHECK(s.requests() == Texts{"LIST 1/2", "LIST 1/2", "WATCH 1/2"});
    CHECK(sharded(*a) == true);
    CHECK(sources_of(*a) == s.expected(s.first));
}

TEST_CASE("Shares: without server_side_shares several shares have one watch from the beginning") {
    Shares s;
    DiscoveryConfig config = s.config(s.first);
    config.watch.server_side_shares = false;
    Host a(s.context.get_executor(), config);
    config.share = s.second;
    Host b(s.context.get_executor(), config);
    a.run();
    b.run();
    s.settle();
    CHECK(s.requests() == Texts{"LIST", "WATCH"});
    CHECK(sources_of(a) == s.expected(s.first));
    CHECK(sources_of(b) == s.expected(s.second));
}

TEST_CASE("Shares: where every selection is evaluated here, so are shares") {
    Shares s;
    DiscoveryConfig config = s.config(s.first);
    config.watch.share_selectors = SelectorSharing::always;
    const auto a = s.host(config);
    CHECK(s.requests() == Texts{"LIST", "WATCH"});
    CHECK(sources_of(*a) == s.expected(s.first));
}

TEST_CASE("Shares: a job with another share has what both shares have all the time") {
    const Gate gate = GENERATE(Gate::off, Gate::on, Gate::mixed);
    Shares s(gate);
    const auto before = ObjectShare({{0, 3ULL << 62U}});
    const auto after = ObjectShare({{1ULL << 62U, 0}});
    Sources both = s.expected(before);
    std::erase_if(both, [&](const auto& source) { return !s.expected(after).contains(source); });
    REQUIRE(both.size() > 4);
    JobHost host(s.context.get_executor());
    host.run();
    host.manager->apply_config({{"a", {s.config(before)}}});
    s.advance(1min);
    const auto sources = [&host] {
        Sources all;
        for (const auto& [source, targets] : host.state("a")) all.insert(source);
        return all;
    };
    CHECK(sources() == s.expected(before));
    host.after_diff = [&](const JobDiff&) {
        const Sources now = sources();
        CHECK(std::includes(now.begin(), now.end(), both.begin(), both.end()));
    };
    host.manager->apply_config({{"a", {s.config(after)}}});
    s.advance(1min);
    CHECK(sources() == s.expected(after));
    CHECK(host.problems() == "");
}

TEST_CASE("Shares: selectors and shares go together") {
    const Gate gate = GENERATE(Gate::off, Gate::on, Gate::mixed);
    Shares s(gate);
    for (int i = 0; i < 20; i += 2) {
        s.server.apply(pod({.name = "p" + std::to_string(i), .labels = {{"app", "web"}}}));
    }
    DiscoveryConfig config = s.config(s.first);
    config.selectors = {{Role::pod, "app=web", ""}};
    const auto a = s.host(config);
    CHECK(s.server.requests().front().request.param("labelSelector") == "app=web");
    const auto b = s.host(s.config(s.second));
    s.advance(1min);
    Sources web;
    for (const std::string& source : s.expected(s.first)) {
        if (std::stoi(name_of(source).substr(1)) % 2 == 0) web.insert(source);
    }
    CHECK_FALSE(web.empty());
    CHECK(sources_of(*a) == web);
    CHECK(sources_of(*b) == s.expected(s.second));
}

TEST_CASE("Shares: namespaces and shares go together") {
    const Gate gate = GENERATE(Gate::off, Gate::on);
    Shares s(gate);
    for (int i = 0; i < 20; ++i)
        s.server.apply(pod({.name = "q" + std::to_string(i), .ns = "other"}));
    DiscoveryConfig config = s.config(s.first);
    config.namespaces = {"other"};
    const auto a = s.host(config);
    CHECK(a->groups.size() > 4);
    CHECK(a->groups.size() < 16);
    for (const auto& [source, group] : a->groups) CHECK(source.starts_with("pod/other/"));
}

TEST_CASE("Shares: a relist after 410 changes nothing") {
    const Gate gate = GENERATE(Gate::off, Gate::on, Gate::mixed);
    Shares s(gate);
    const auto a = s.host(s.config(s.first));
    s.server.compact();
    s.server.end_watches();
    s.server.apply(pod({.name = "new"}));
    s.server.compact();
    s.advance(1min);
    s.requests();
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(a->complaints.empty());
    for (const std::string& line : s.take_log()) CHECK_FALSE(contains(line, "lacks"));
}

TEST_CASE("Shares: metadata is attached from objects of any share") {
    Shares s;
    s.server.apply(R"({"kind":"Node","apiVersion":"v1",)"
                   R"("metadata":{"name":"n1","labels":{"zone":"z"}}})");
    // The replica has no nodes of its own.
    DiscoveryConfig config = s.config(s.first);
    config.attach_metadata.node = true;
    const auto a = s.host(config);
    CHECK(sources_of(*a) == s.expected(s.first));
    CHECK(a->label(*s.expected(s.first).begin(), "__meta_kubernetes_node_label_zone") == "z");

    DiscoveryConfig nodes = s.config(ObjectShare({{0, 1}}));
    nodes.role = Role::node;
    const auto b = s.host(nodes);
    CHECK(b->groups.empty());
    CHECK(b->diffs == 1);
}

TEST_CASE("Shares: nodes and services have shares, too") {
    const Role role = GENERATE(Role::node, Role::service);
    Shares s;
    for (int i = 0; i < 20; ++i) {
        s.server.apply(service("s" + std::to_string(i)));
        s.server.apply(sim::node("n" + std::to_string(i)).address("10.0.0.1"));
    }
    DiscoveryConfig config = s.config(s.first);
    config.role = role;
    const auto a = s.host(config);
    config.share = s.second;
    const auto b = s.host(config);
    CHECK(a->groups.size() + b->groups.size() == 20);
    CHECK_FALSE(a->groups.empty());
    CHECK_FALSE(b->groups.empty());
}
