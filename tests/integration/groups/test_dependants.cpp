#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/metrics.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

struct Generated {
    std::uint64_t groups = 0, parts = 0;
    friend bool operator==(const Generated&, const Generated&) = default;
};

std::string name(const char* prefix, std::size_t i) { return prefix + std::to_string(i); }

/// A host of one role, its latest diff, and the generated groups.
struct Dependants : Simulation {
    void run(Role role, const AttachMetadata& attach = {}, std::size_t max_targets = 100'000) {
        DiscoveryConfig config;
        config.role = role;
        config.api_server.url = server.url();
        config.attach_metadata = attach;
        config.watch.max_targets_per_object = max_targets;
        host = std::make_unique<Host>(context.get_executor(), config);
        host->after_diff = [this](const TargetGroupDiff& diff) { updated = diff.updated; };
        host->run();
        settle();
        take();
    }
    Generated take() {
        settle();
        const Generated now{metrics->groups_generated, metrics->target_parts_generated};
        const Generated before = std::exchange(generated_, now);
        return {now.groups - before.groups, now.parts - before.parts};
    }
    void apply_pods(std::size_t count, const Strings& labels = {}) {
        for (std::size_t i = 0; i < count; ++i) server.apply(pod(i, labels));
    }
    static boost::json::object pod(std::size_t i, const Strings& labels = {}) {
        return test::pod({.name = name("p", i), .ip = name("10.0.0.", i), .labels = labels});
    }
    static std::vector<Address> addresses(std::size_t count) {
        std::vector<Address> all;
        for (std::size_t i = 0; i < count; ++i) all.push_back({name("10.0.0.", i), name("p", i)});
        return all;
    }
    TargetChanges changes() const { return updated.at(0).targets(); }

    std::unique_ptr<Host> host;
    std::vector<GroupChange> updated;

 private:
    Generated generated_;
};

}  // namespace

TEST_CASE("Dependants: a pod's change makes the targets of its own endpoint again, no others") {
    const Role role = GENERATE(Role::endpointslice, Role::endpoints);
    Dependants d;
    d.server.apply(service("web"));
    d.apply_pods(100);
    d.server.apply(slice("web", "web", d.addresses(100)));
    d.server.apply(endpoints("web", d.addresses(100)));
    d.run(role);
    const auto before = d.host->groups;

    d.server.apply(d.pod(40, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.changes().added == std::vector<std::size_t>{40});
    CHECK(d.changes().removed == std::vector<std::size_t>{40});
    CHECK(d.changes().kept.size() == 99);
    CHECK(before.begin()->second->size() == 100);  // the host keeps the old one, too

    SECTION("pods that change in one turn are one group") {
        for (const std::size_t i : {3U, 40U, 99U}) d.server.apply(d.pod(i, {{"v", "3"}}));
        const Generated generated = d.take();
        CHECK(generated.parts == 3);
        CHECK(generated.groups <= 3);
    }
    SECTION("a pod that goes, and comes back") {
        d.server.remove("pods", "default", "p7");
        CHECK(d.take() == Generated{1, 1});
        CHECK(d.changes().added == std::vector<std::size_t>{7});
        d.server.apply(d.pod(7));
        CHECK(d.take() == Generated{1, 1});
        CHECK(d.changes().kept.size() == 99);
        d.server.apply(d.pod(7, {{"v", "2"}}));
        CHECK(d.take() == Generated{1, 1});
    }
    SECTION("what reaches no label makes nothing") {
        auto pod = d.pod(40, {{"v", "2"}});
        pod["metadata"].as_object()["generation"] = 7;
        d.server.apply(pod);
        CHECK(d.take() == Generated{0, 0});
    }
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a service's labels are the group's and make no targets again") {
    const Role role = GENERATE(Role::endpointslice, Role::endpoints);
    Dependants d;
    d.server.apply(service("web"));
    d.apply_pods(10);
    d.server.apply(slice("web", "web", d.addresses(10)));
    d.server.apply(endpoints("web", d.addresses(10)));
    d.run(role);
    d.server.apply(service("web", {{"team", "a"}}));
    CHECK(d.take() == Generated{1, 0});
    CHECK(d.changes().kept.size() == 10);
    CHECK(d.updated.at(0).group->labels().get("__meta_kubernetes_service_label_team") == "a");
    // The existence of the service decides about the labels of pods elsewhere.
    d.server.remove("services", "default", "web");
    CHECK(d.take() == Generated{1, 10});
    d.server.apply(d.pod(3, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 1});
    d.server.apply(service("web", {{"team", "b"}}));
    CHECK(d.take() == Generated{1, 10});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a node's labels reach the groups of its pods, whose targets are kept") {
    Dependants d;
    d.server.apply(node("n1"));
    d.apply_pods(250);
    d.server.apply(test::pod({.name = "other", .node = "n2"}));
    d.run(Role::pod, {.node = true});
    d.server.apply(node("n1", {{"zone", "b"}}));
    CHECK(d.take() == Generated{250, 0});
    CHECK(d.updated.size() == 250);
    for (const GroupChange& change : d.updated) {
        CHECK(change.targets().kept.size() == 1);
        CHECK(change.group->labels().get("__meta_kubernetes_node_label_zone") == "b");
        CHECK(change.previous->labels().get("__meta_kubernetes_node_label_zone") == std::nullopt);
    }
    d.server.apply(d.pod(17, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a namespace's labels make no targets again") {
    const Role role =
        GENERATE(Role::pod, Role::service, Role::ingress, Role::endpointslice, Role::endpoints);
    Dependants d;
    d.server.apply(namespace_object("default"));
    d.apply_pods(5);
    d.server.apply(service("web"));
    d.server.apply(ingress("front", "a.example"));
    d.server.apply(slice("web", "web", d.addresses(5)));
    d.server.apply(endpoints("web", d.addresses(5)));
    d.run(role, {.namespace_ = true});
    d.server.apply(namespace_object("default", {{"team", "a"}}));
    CHECK(d.take() == Generated{role == Role::pod ? 5U : 1U, 0});
    for (const GroupChange& change : d.updated) {
        CHECK(change.targets().added.empty());
        CHECK(change.group->merged(0).at("__meta_kubernetes_namespace_label_team") == "a");
    }
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a node behind an endpoint reaches the targets of that endpoint") {
    const Role role = GENERATE(Role::endpointslice, Role::endpoints);
    Dependants d;
    for (std::size_t i = 0; i < 4; ++i) d.server.apply(node(name("n", i)));
    std::vector<Address> addresses;
    for (std::size_t i = 0; i < 20; ++i)
        addresses.push_back({name("10.1.0.", i), "", name("n", i % 5)});
    d.server.apply(slice("web", "web", addresses));
    d.server.apply(endpoints("web", addresses));
    d.run(role, {.node = true});
    d.server.apply(node("n2", {{"zone", "b"}}));
    CHECK(d.take() == Generated{1, 4});
    CHECK(d.changes().added == std::vector<std::size_t>{2, 7, 12, 17});
    d.server.apply(node("n4"));  // a node that did not exist
    CHECK(d.take() == Generated{1, 4});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a pod that moves to another controller has asked other questions since") {
    Dependants d;
    d.server.apply(replica_set("r1", "d1"));
    d.server.apply(replica_set("r2", "d2"));
    const auto pod_of = [&](const std::string& set) {
        return with_controller(d.pod(1), "ReplicaSet", set);
    };
    d.apply_pods(3);
    d.server.apply(pod_of("r1"));
    d.server.apply(slice("web", "web", d.addresses(3)));
    d.run(Role::endpointslice, {.deployment = true});
    const auto deployment = [&] {
        return d.updated.at(0).group->merged(1).at("__meta_kubernetes_pod_deployment_name");
    };
    d.server.apply(pod_of("r2"));
    CHECK(d.take() == Generated{1, 1});
    CHECK(deployment() == "d2");
    d.server.apply(replica_set("r1", "d3"));
    CHECK(d.take() == Generated{0, 0});
    d.server.apply(replica_set("r2", "d4"));
    CHECK(d.take() == Generated{1, 1});
    CHECK(deployment() == "d4");
    d.server.remove("pods", "default", "p1");
    CHECK(d.take() == Generated{1, 1});
    d.server.apply(replica_set("r2", "d5"));
    CHECK(d.take() == Generated{0, 0});
    d.server.apply(pod_of("r2"));
    CHECK(d.take() == Generated{1, 1});
    CHECK(deployment() == "d5");
}

TEST_CASE("Dependants: an object that has changed itself is made anew") {
    Dependants d;
    d.apply_pods(4);
    d.server.apply(slice("web", "web", d.addresses(3)));
    d.run(Role::endpointslice);
    d.server.apply(slice("web", "web", d.addresses(4)));
    CHECK(d.take() == Generated{1, 4});
    CHECK(d.changes().kept == std::vector<std::size_t>{0, 1, 2});
    CHECK(d.changes().added == std::vector<std::size_t>{3});
    d.server.apply(d.pod(3, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: an object with other parts that are the same targets is made anew once") {
    Dependants d;
    const auto with_metrics_port = [&](const Strings& labels) {
        auto pod = d.pod(0, labels);
        auto& container = pod["spec"].as_object()["containers"].as_array()[0].as_object();
        container["ports"].as_array().push_back(
            boost::json::object{{"name", "metrics"}, {"containerPort", 9090}, {"protocol", "TCP"}});
        return pod;
    };
    d.server.apply(with_metrics_port({}));
    d.server.apply(d.pod(1));
    d.server.apply(slice("web", "web", d.addresses(2)));
    d.run(Role::endpointslice);
    auto padded = slice("web", "web", d.addresses(2));
    auto& endpoints = padded["endpoints"].as_array();
    endpoints.insert(endpoints.begin(), boost::json::object{{"addresses", boost::json::array{}}});
    d.server.apply(padded);
    CHECK(d.take() == Generated{1, 3});
    const std::size_t diffs = d.host->diffs;
    d.server.apply(d.pod(1, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 3});
    CHECK(d.host->diffs == diffs + 1);
    CHECK(d.changes().added == std::vector<std::size_t>{1});
    d.server.apply(with_metrics_port({{"v", "2"}}));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.changes().added == std::vector<std::size_t>{0, 2});
    CHECK(d.changes().kept == std::vector<std::size_t>{1});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: nothing of a replaced object's parts lives on") {
    Dependants d;
    d.apply_pods(2);
    d.server.apply(slice("web", "web", d.addresses(2)));
    d.run(Role::endpointslice);
    const TargetGroupPtr before = d.host->groups.begin()->second;
    d.server.remove("endpointslices", "default", "web");
    d.server.apply(slice("web", "web", d.addresses(2)));
    d.settle();
    const TargetGroupPtr now = d.host->groups.begin()->second;
    REQUIRE(now != before);
    CHECK(*now == *before);
    CHECK(detail::Access::parts(*now)[0].part != detail::Access::parts(*before)[0].part);
}

TEST_CASE("Dependants: an object with too many targets is made anew until it has fewer") {
    Dependants d;
    d.apply_pods(4);
    d.server.apply(slice("web", "web", d.addresses(3)));
    d.run(Role::endpointslice, {}, 3);
    d.server.apply(slice("web", "web", d.addresses(4)));
    d.settle();
    CHECK(d.take_log().size() == 1);
    CHECK(d.host->groups.begin()->second->size() == 3);
    d.take();
    d.server.apply(d.pod(0, {{"v", "2"}}));
    CHECK(d.take().parts == 4);
    CHECK(d.host->groups.begin()->second->merged(0).contains("__meta_kubernetes_pod_label_v") ==
          false);
    d.server.apply(slice("web", "web", d.addresses(2)));
    CHECK(d.take() == Generated{1, 2});
    CHECK(d.host->groups.begin()->second->merged(0).at("__meta_kubernetes_pod_label_v") == "2");
    d.server.apply(d.pod(0, {{"v", "3"}}));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: a replacement with too many targets has none of the deleted object") {
    Dependants d;
    d.apply_pods(4);
    d.server.apply(slice("web", "web", d.addresses(3)));
    d.run(Role::endpointslice, {}, 3);
    REQUIRE(d.host->groups.size() == 1);
    d.server.remove("endpointslices", "default", "web");
    d.server.apply(slice("web", "web", d.addresses(4)));
    d.settle();
    CHECK(d.take_log().size() == 1);
    CHECK(d.host->groups.empty());
    CHECK(d.host->discoverer->status().error == errc::too_many_targets);
    d.server.apply(slice("web", "web", d.addresses(2)));
    d.settle();
    REQUIRE(d.host->groups.size() == 1);
    CHECK(d.host->groups.begin()->second->size() == 2);
    CHECK(d.host->complaints.empty());
}

TEST_CASE("Dependants: ports that an object does not cover belong to the part of their pod") {
    const Role role = GENERATE(Role::endpointslice, Role::endpoints);
    Dependants d;
    const auto with_metrics_port = [&](std::size_t i, const Strings& labels = {}) {
        auto pod = d.pod(i, labels);
        auto& container = pod["spec"].as_object()["containers"].as_array()[0].as_object();
        container["ports"].as_array().push_back(
            boost::json::object{{"name", "metrics"}, {"containerPort", 9090}, {"protocol", "TCP"}});
        return pod;
    };
    for (int i = 0; i < 3; ++i) d.server.apply(with_metrics_port(static_cast<std::size_t>(i)));
    auto addresses = d.addresses(3);
    addresses.push_back({"10.0.1.1", "p1"});  // a second address of the same pod
    d.server.apply(slice("web", "web", addresses));
    d.server.apply(endpoints("web", addresses));
    d.run(role);
    const auto ports = [&] {
        std::vector<std::string> all;
        const TargetGroupPtr group = d.host->groups.begin()->second;
        for (std::size_t i = 0; i < group->size(); ++i) {
            all.push_back(group->merged(i).at("__address__"));
        }
        return all;
    };
    using Addresses = std::vector<std::string>;
    const Addresses expected{"10.0.0.0:8080", "10.0.0.1:8080", "10.0.0.2:8080", "10.0.1.1:8080",
                             "10.0.0.0:9090", "10.0.0.1:9090", "10.0.0.2:9090"};
    CHECK(ports() == expected);
    d.server.apply(with_metrics_port(1, {{"v", "2"}}));
    CHECK(d.take() == Generated{1, 2});  // those of both addresses
    CHECK(ports() == expected);
    CHECK(d.changes().added == std::vector<std::size_t>{1, 3, 5});
    CHECK(d.changes().kept == std::vector<std::size_t>{0, 2, 4, 6});
    d.server.apply(d.pod(0));
    CHECK(d.take() == Generated{1, 1});
    CHECK(d.changes().removed == std::vector<std::size_t>{4});
    CHECK(ports() == Addresses{"10.0.0.0:8080", "10.0.0.1:8080", "10.0.0.2:8080", "10.0.1.1:8080",
                               "10.0.0.1:9090", "10.0.0.2:9090"});
    CHECK(d.host->complaints.empty());
}
