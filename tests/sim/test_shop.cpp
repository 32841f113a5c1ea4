#include "k8s_sd/sim/shop.hpp"
#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>

using namespace k8s_sd::test;
using k8s_sd::sim::Shop;
using k8s_sd::sim::ShopOptions;

namespace {

ShopOptions seeded(std::uint64_t seed) {
    ShopOptions options;
    options.seed = seed;
    options.now = [] { return std::chrono::system_clock::time_point(1'800'000'000s); };
    return options;
}

json::array items(RawClient& client, const std::string& path) {
    client.get(path);
    return client.object().at("items").as_array();
}

std::string text(const json::value& value, const char* pointer) {
    return std::string(value.at_pointer(pointer).as_string());
}

std::string key(const json::value& item) {
    return text(item, "/metadata/namespace") + "/" + text(item, "/metadata/name");
}

bool ready(const json::value& pod) {
    for (const json::value& condition : pod.at_pointer("/status/conditions").as_array()) {
        if (condition.at("type") == "Ready") return condition.at("status") == "True";
    }
    return false;
}

using Addresses = std::set<std::string>;  // "uid ip node"

/// The expected result of the endpoints controllers for the pods selected by a service.
struct Expected {
    Addresses ready, not_ready, terminating;
};

Expected expected_of(const json::value& service, const json::array& pods) {
    Expected result;
    const std::string app = text(service, "/spec/selector/app.kubernetes.io~1name");
    for (const json::value& pod : pods) {
        const json::object& status = pod.at("status").as_object();
        if (text(pod, "/metadata/namespace") != text(service, "/metadata/namespace")) continue;
        if (text(pod, "/metadata/labels/app.kubernetes.io~1name") != app) continue;
        if (!status.contains("podIP")) continue;
        const std::string entry = text(pod, "/metadata/uid") + " " + text(pod, "/status/podIP") +
                                  " " + text(pod, "/spec/nodeName");
        if (pod.at("metadata").as_object().contains("deletionTimestamp")) {
            result.terminating.insert(entry);
        } else {
            (ready(pod) ? result.ready : result.not_ready).insert(entry);
        }
    }
    return result;
}

void add_subset(const json::object& subset, const char* list, Addresses& to) {
    if (!subset.contains(list)) return;
    for (const json::value& a : subset.at(list).as_array()) {
        to.insert(text(a, "/targetRef/uid") + " " + text(a, "/ip") + " " + text(a, "/nodeName"));
    }
}

void check_endpoints(const json::value& endpoints, const Expected& expected) {
    Addresses is_ready;
    Addresses not_ready;
    for (const json::value& subset : endpoints.at("subsets").as_array()) {
        add_subset(subset.as_object(), "addresses", is_ready);
        add_subset(subset.as_object(), "notReadyAddresses", not_ready);
    }
    CHECK(is_ready == expected.ready);
    CHECK(not_ready == expected.not_ready);
}

void check_slice(const json::value& slice, const Expected& expected) {
    Expected actual;
    for (const json::value& e : slice.at("endpoints").as_array()) {
        Addresses& to = e.at_pointer("/conditions/terminating").as_bool() ? actual.terminating
                        : e.at_pointer("/conditions/ready").as_bool()     ? actual.ready
                                                                          : actual.not_ready;
        to.insert(text(e, "/targetRef/uid") + " " + text(e, "/addresses/0") + " " +
                  text(e, "/nodeName"));
    }
    CHECK(actual.ready == expected.ready);
    CHECK(actual.not_ready == expected.not_ready);
    CHECK(actual.terminating == expected.terminating);
}

/// All objects in the cluster are consistent.
void check_consistency(RawClient& client) {
    const json::array pods = items(client, "/api/v1/pods");
    std::map<std::string, json::value> endpoints;
    std::map<std::string, json::value> slices;
    for (const json::value& e : items(client, "/api/v1/endpoints")) endpoints[key(e)] = e;
    for (const json::value& s : items(client, "/apis/discovery.k8s.io/v1/endpointslices")) {
        slices[text(s, "/metadata/namespace") + "/" +
               text(s, "/metadata/labels/kubernetes.io~1service-name")] = s;
    }
    const json::array services = items(client, "/api/v1/services");
    CHECK(endpoints.size() == services.size());
    CHECK(slices.size() == services.size());
    for (const json::value& service : services) {
        INFO(key(service));
        const Expected expected = expected_of(service, pods);
        check_endpoints(endpoints.at(key(service)), expected);
        check_slice(slices.at(key(service)), expected);
    }
    std::set<std::string> owners;
    for (const char* path : {"/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets",
                             "/apis/apps/v1/daemonsets", "/apis/batch/v1/jobs"}) {
        for (const json::value& owner : items(client, path)) {
            owners.insert(text(owner, "/metadata/uid"));
        }
    }
    for (const json::value& pod : pods) {
        INFO(key(pod));
        CHECK(owners.contains(text(pod, "/metadata/ownerReferences/0/uid")));
    }
}

std::string dump(RawClient& client) {
    std::string all;
    for (const char* path : {"/api/v1/nodes", "/api/v1/pods", "/api/v1/services",
                             "/apis/apps/v1/replicasets", "/apis/networking.k8s.io/v1/ingresses"}) {
        all += json::serialize(items(client, path));
    }
    return all;
}

}  // namespace

TEST_CASE("Shop: the cluster begins complete and consistent") {
    Fixture f;
    const Shop shop(f.server, seeded(1));
    auto client = f.client();
    CHECK(f.server.count("nodes") == 3);
    CHECK(f.server.count("namespaces") == 4);
    CHECK(f.server.count("pods") == 19);
    CHECK(f.server.count("services") == 8);
    CHECK(f.server.count("ingresses") == 2);
    CHECK(f.server.count("gateways") == 1);
    CHECK(items(client, "/apis/gateway.networking.k8s.io/v1/httproutes").size() == 2);
    CHECK(f.server.count("grpcroutes") == 1);
    CHECK(f.server.count("tlsroutes") == 1);
    CHECK(f.server.count("deployments") == 6);
    CHECK(f.server.count("statefulsets") == 1);
    CHECK(f.server.count("daemonsets") == 1);
    CHECK(f.server.count("cronjobs") == 1);
    check_consistency(client);
    for (const json::value& pod : items(client, "/api/v1/pods")) CHECK(ready(pod));
}

TEST_CASE("Shop: every step changes something, says what, and leaves the cluster consistent") {
    Fixture f;
    Shop shop(f.server, seeded(7));
    auto client = f.client();
    std::set<std::string> seen;
    for (int i = 0; i < 400; ++i) {
        const std::string before = f.server.resource_version();
        const std::string sentence = shop.step();
        INFO(i << ": " << sentence);
        CHECK_FALSE(sentence.empty());
        CHECK(f.server.resource_version() != before);
        check_consistency(client);
        for (const char* word : {"scaled", "rolls out", "rolled out", "readiness", "ready again",
                                 "crashes", "canary", "scrape=", "node node-", "cronjob",
                                 "succeeded", "terminating", "is gone", "created"}) {
            if (sentence.find(word) != std::string::npos) seen.insert(word);
        }
    }
    CHECK(seen.size() == 14);
}

TEST_CASE("Shop: the same seed gives the same cluster and the same changes") {
    Fixture a;
    Fixture b;
    Fixture c;
    Shop first(a.server, seeded(3));
    Shop second(b.server, seeded(3));
    Shop other(c.server, seeded(4));
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const std::string sentence = first.step();
        CHECK(sentence == second.step());
        differs = differs || sentence != other.step();
    }
    CHECK(differs);
    auto client_a = a.client();
    auto client_b = b.client();
    CHECK(dump(client_a) == dump(client_b));
}

TEST_CASE("Shop: it stays of a bounded size") {
    Fixture f;
    Shop shop(f.server, seeded(5));
    for (int i = 0; i < 3'000; ++i) shop.step();
    CHECK(f.server.count("pods") < 60);
    CHECK(f.server.count("replicasets") < 20);
    CHECK(f.server.count("jobs") < 3);
}
