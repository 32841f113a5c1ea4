#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
namespace json = boost::json;

namespace {

/// Endpoints and slices of all shapes, many of them with common pods.
class DependentCluster {
 public:
    DependentCluster(Random& random, sim::ApiServer& server) : random_(random), server_(server) {}

    void change() {
        const json::object object = make();
        if (!random_.one_in(5)) {
            server_.apply(object);
            return;
        }
        const auto& meta = object.at("metadata").as_object();
        const auto* ns = meta.if_contains("namespace");
        server_.remove(object.at("kind").get_string(),
                       ns ? std::string_view(ns->get_string()) : std::string_view(),
                       meta.at("name").get_string());
    }

 private:
    std::string ns() { return random_.one_in(4) ? "b" : "a"; }
    std::string ip() { return "10.0.0." + std::to_string(random_.below(12)); }
    Strings labels() { return {{"v", std::to_string(random_.below(4))}}; }

    json::object make() {
        switch (random_.below(16)) {
            case 0: return node(random_.numbered("n", 3), labels());
            case 1: return namespace_object(ns(), labels());
            case 2: return service(random_.numbered("s", 2), labels(), ns());
            case 3: return replica_set(random_.numbered("r", 2), random_.numbered("d", 2), ns());
            case 4:
            case 5: return make_slice();
            case 6:
            case 7: return make_endpoints();
            default: return make_pod();
        }
    }

    json::array ports(const char* number) {
        json::array all;
        for (unsigned i = random_.below(4); i > 0; --i) {
            const std::int64_t port = 8080 + random_.below(3);
            json::object made{{"name", "p" + std::to_string(random_.below(3))},
                              {"protocol", random_.one_in(4) ? "UDP" : "TCP"}};
            if (!random_.one_in(6)) made[number] = port;
            all.push_back(std::move(made));
        }
        return all;
    }
    json::array containers() {
        json::array all;
        for (unsigned i = random_.below(3); i > 0; --i) {
            json::array declared;
            for (auto& port : ports("containerPort")) {
                if (port.as_object().contains("containerPort")) declared.push_back(port);
            }
            all.push_back(json::object{{"name", "c" + std::to_string(i)},
                                       {"image", random_.numbered("i", 2)},
                                       {"ports", std::move(declared)}});
        }
        return all;
    }
    json::object make_pod() {
        json::object pod = test::pod({.name = random_.numbered("p", 5),
                                      .ns = ns(),
                                      .ip = random_.one_in(8) ? "" : ip(),
                                      .node = random_.numbered("n", 4),
                                      .labels = labels()});
        auto& spec = pod["spec"].as_object();
        spec["containers"] = containers();
        if (random_.one_in(3)) spec["initContainers"] = containers();
        if (random_.one_in(2)) pod = with_controller(pod, "ReplicaSet", random_.numbered("r", 2));
        return pod;
    }
    void add_reference(json::object& address) {
        const unsigned what = random_.below(8);
        if (what == 0) return;
        const bool node = what == 1;
        json::object target{{"kind", node ? "Node" : "Pod"},
                            {"name", node ? random_.numbered("n", 3) : random_.numbered("p", 6)}};
        if (!node) target["namespace"] = ns();
        address["targetRef"] = std::move(target);
    }
    json::object make_slice() {
        json::array endpoints;
        for (unsigned i = random_.below(7); i > 0; --i) {
            json::array addresses;
            for (unsigned n = random_.below(3); n > 0; --n) addresses.push_back(json::string(ip()));
            json::object endpoint{{"addresses", std::move(addresses)},
                                  {"conditions", json::object{{"ready", random_.one_in(2)}}}};
            if (random_.one_in(2)) endpoint["nodeName"] = random_.numbered("n", 4);
            add_reference(endpoint);
            endpoints.push_back(std::move(endpoint));
        }
        json::object made = slice(random_.numbered("slice", 3), random_.numbered("s", 3), {}, ns());
        made["endpoints"] = std::move(endpoints);
        made["ports"] = ports("port");
        return made;
    }
    json::array addresses() {
        json::array all;
        for (unsigned i = random_.below(5); i > 0; --i) {
            json::object address{{"ip", ip()}};
            if (random_.one_in(2)) address["nodeName"] = random_.numbered("n", 4);
            add_reference(address);
            all.push_back(std::move(address));
        }
        return all;
    }
    json::object make_endpoints() {
        json::array subsets;
        for (unsigned i = random_.below(4); i > 0; --i) {
            subsets.push_back(json::object{{"addresses", addresses()},
                                           {"notReadyAddresses", addresses()},
                                           {"ports", ports("port")}});
        }
        json::object made = endpoints(random_.numbered("s", 3), {}, ns());
        made["subsets"] = std::move(subsets);
        return made;
    }

    Random& random_;
    sim::ApiServer& server_;
};

/// Of equal targets, as many are kept as both sides have.
void check_changes(const GroupChange& change) {
    if (!change.previous || change.replaced) return;
    std::map<LabelMap, std::pair<std::size_t, std::size_t>> count;
    const auto labels = [](const TargetGroup& group, std::size_t i) { return group[i].to_map(); };
    for (std::size_t i = 0; i < change.previous->size(); ++i) {
        ++count[labels(*change.previous, i)].first;
    }
    for (std::size_t i = 0; i < change.group->size(); ++i) ++count[labels(*change.group, i)].second;
    std::size_t kept = 0;
    for (const auto& [target, n] : count) kept += std::min(n.first, n.second);
    const TargetChanges changes = change.targets();
    CHECK(changes.kept.size() == kept);
    CHECK(changes.added.size() == change.group->size() - kept);
    CHECK(changes.removed.size() == change.previous->size() - kept);
}

}  // namespace

TEST_CASE("Dependants: what is made again of a group's parts is what is made of the whole") {
    for_each_seed("DEPENDANTS", 24, [&](std::uint64_t seed) {
        Random random(seed);
        Simulation sim;
        DependentCluster cluster(random, sim.server);
        for (int i = 0; i < 60; ++i) cluster.change();
        DiscoveryConfig config;
        config.api_server.url = sim.server.url();
        config.role = random.pick<Role>({Role::endpoints, Role::endpointslice});
        config.dialect =
            random.one_in(2) ? LabelDialect::prometheus : LabelDialect::victoriametrics;
        config.attach_metadata.node = random.one_in(2);
        config.attach_metadata.namespace_ = random.one_in(2);
        config.attach_metadata.deployment = random.one_in(2);
        if (random.one_in(4)) config.watch.max_targets_per_object = 8;
        const bool limited = config.watch.max_targets_per_object == 8;
        if (random.one_in(4)) config.namespaces = {"a", "b"};
        Host host(sim.context.get_executor(), config);
        host.after_diff = [](const TargetGroupDiff& diff) {
            for (const GroupChange& change : diff.updated) check_changes(change);
        };
        host.run();
        sim.settle();
        DiscoveryConfig other = config;
        --other.watch.max_object_bytes;
        for (int step = 0; step < 40; ++step) {
            for (unsigned i = random.below(3); i < 3; ++i) cluster.change();
            sim.settle();
            // An oversized group keeps its previous version, but a new host has none.
            if (limited) continue;
            Host anew(sim.context.get_executor(), other);
            anew.run();
            sim.settle();
            REQUIRE(host.state() == anew.state());
            for (const auto& [source, group] : host.groups) {
                REQUIRE(*group == *anew.groups.at(source));
            }
        }
        // If all targets override a group label, it can change without a change of any target.
        const bool hides =
            config.dialect == LabelDialect::victoriametrics && config.attach_metadata.namespace_;
        if (!hides) CHECK(host.complaints == "");
    });
}
