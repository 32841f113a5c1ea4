// Replicas with complementary shares have all objects together, each object exactly once,
// regardless of the servers' support for shardSelector and of any faults.

#include "k8s_sd/selector.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Gate = sim::ApiServer::ShardGate;

namespace {

/// Disjoint shares that cover everything.
std::vector<ObjectShare> random_shares(Random& random, unsigned count) {
    const unsigned slots = count * (1 + random.below(8));
    std::vector<std::vector<HashRange>> ranges(count);
    for (unsigned i = 0; i < slots; ++i) {
        const HashRange range = ObjectShare::part(i, slots).ranges().empty()
                                    ? HashRange()
                                    : ObjectShare::part(i, slots).ranges().front();
        ranges[i < count ? i : random.below(count)].push_back(range);
    }
    std::vector<ObjectShare> shares;
    for (auto& of_one : ranges) shares.emplace_back(std::move(of_one));
    return shares;
}

class Replicas {
 public:
    explicit Replicas(std::uint64_t seed) : random_(seed) {
        for (unsigned i = random_.below(40); i > 0; --i) change_pod();
        change_server();
        for (const ObjectShare& share : random_shares(random_, 1 + random_.below(5))) {
            DiscoveryConfig config{.share = share};
            config.api_server.url = sim_.server.url();
            config.watch.watch_list = random_.one_in(2);
            config.watch.protobuf = !random_.one_in(3);
            config.watch.server_side_shares = !random_.one_in(4);
            // Replicas with different options share no watches, like two processes.
            config.watch.page_size = random_.pick<unsigned>({2, 500});
            hosts_.push_back(std::make_unique<Host>(sim_.context.get_executor(), config));
            hosts_.back()->run();
            if (random_.one_in(2)) sim_.settle();
        }
        check();
    }

    void live() {
        for (unsigned i = random_.below(12); i > 0; --i) {
            if (random_.one_in(3)) change_server();
            if (random_.one_in(4)) disturb();
            for (unsigned j = random_.below(6); j > 0; --j) change_pod();
            check();
        }
    }

 private:
    void change_pod() {
        const std::string name = random_.numbered("p", 30);
        if (random_.one_in(3)) {
            sim_.server.remove("pods", "default", name);
        } else {
            sim_.server.apply(pod({.name = name, .labels = {{"x", random_.numbered("", 3)}}}));
        }
    }
    void change_server() {
        sim_.server.set_shard_gate(random_.pick<Gate>({Gate::off, Gate::on, Gate::mixed}));
        const bool refuses = random_.one_in(4);
        const auto status = random_.pick<unsigned>({400, 403, 414, 422, 500});
        sim_.server.set_intercept([refuses, status](const sim::Request& request) {
            std::optional<sim::Response> answer;
            if (refuses && !request.param("shardSelector").empty())
                answer = sim::Response::failure(status, "", "no");
            return answer;
        });
    }
    void disturb() {
        switch (random_.below(4)) {
            case 0: sim_.server.end_watches(); break;
            case 1: sim_.server.disconnect_all(); break;
            case 2: sim_.server.compact(); break;
            default: sim_.advance(90min);
        }
        sim_.settle();
    }
    void check() {
        sim_.advance(2min);
        std::multiset<std::string> found;
        for (const auto& host : hosts_) {
            for (const auto& [source, group] : host->groups) found.insert(source);
            CHECK(host->complaints.empty());
            CHECK(host->discoverer->status().synced);
        }
        std::multiset<std::string> expected;
        for (const boost::json::object& object : sim_.server.list("pods")) {
            expected.insert("pod/default/" +
                            std::string(object.at("metadata").at("name").as_string()));
        }
        CHECK(found == expected);
    }

    Random random_;
    Simulation sim_;
    std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace

TEST_CASE("Shares: replicas have everything together and nothing in common, on any server") {
    for_each_seed("SHARES", 200, [&](std::uint64_t seed) { Replicas(seed).live(); });
}
