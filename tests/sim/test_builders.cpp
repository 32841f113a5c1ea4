#include "k8s_sd/config.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::test {
namespace {

/// Discovers the objects; JSON and protobuf must agree.
TargetsBySource discovered(Role role, const std::vector<boost::json::object>& objects,
                           const AttachMetadata& attach = {}) {
    const auto discover = [&](const sim::ApiServerOptions& options) {
        Simulation sim(options);
        sim::add_gateway_api(sim.server);
        for (const auto& object : objects) sim.server.apply(object);
        DiscoveryConfig config{.role = role, .api_server = {.url = sim.server.url()}};
        config.attach_metadata = attach;
        Host host(sim.context.get_executor(), config);
        host.run();
        sim.settle();
        CHECK(host.complaints.empty());
        CHECK(sim.take_log().empty());
        return host.state();
    };
    const TargetsBySource targets = discover({});
    CHECK(discover(json_server()) == targets);
    return targets;
}

/// Checks the labels named here; "" for a missing one.
void check_labels(const LabelMap& target, const std::map<std::string, std::string>& expected) {
    for (const auto& [name, value] : expected) {
        CAPTURE(name);
        const auto found = target.find(name);
        CHECK((found == target.end() ? std::string() : std::string(found->second)) == value);
    }
}

}  // namespace

TEST_CASE("builders: a pod has a target for each port of its containers") {
    const auto targets = discovered(Role::pod, {sim::pod("shop", "web-0")
                                                    .uid("u-1")
                                                    .ip("10.0.0.1")
                                                    .host_ip("192.168.0.1")
                                                    .node("n1")
                                                    .ready()
                                                    .label("app", "web")
                                                    .annotation("team.io/name", "shop")
                                                    .controller("StatefulSet", "web")
                                                    .container("web", "web:1", 8080)
                                                    .port("metrics", 9090)
                                                    .container("sidecar", "proxy:2"),
                                                sim::pod("shop", "web-1").container("web", "w")});
    REQUIRE(targets.size() == 1);
    const auto& pod = targets.at("pod/shop/web-0");
    REQUIRE(pod.size() == 3);
    check_labels(pod[0], {{"__address__", "10.0.0.1:8080"},
                          {"__meta_kubernetes_namespace", "shop"},
                          {"__meta_kubernetes_pod_name", "web-0"},
                          {"__meta_kubernetes_pod_uid", "u-1"},
                          {"__meta_kubernetes_pod_ip", "10.0.0.1"},
                          {"__meta_kubernetes_pod_host_ip", "192.168.0.1"},
                          {"__meta_kubernetes_pod_node_name", "n1"},
                          {"__meta_kubernetes_pod_phase", "Running"},
                          {"__meta_kubernetes_pod_ready", "true"},
                          {"__meta_kubernetes_pod_label_app", "web"},
                          {"__meta_kubernetes_pod_annotation_team_io_name", "shop"},
                          {"__meta_kubernetes_pod_controller_kind", "StatefulSet"},
                          {"__meta_kubernetes_pod_controller_name", "web"},
                          {"__meta_kubernetes_pod_container_name", "web"},
                          {"__meta_kubernetes_pod_container_image", "web:1"},
                          {"__meta_kubernetes_pod_container_port_name", ""},
                          {"__meta_kubernetes_pod_container_port_protocol", "TCP"}});
    check_labels(pod[1], {{"__address__", "10.0.0.1:9090"},
                          {"__meta_kubernetes_pod_container_port_name", "metrics"}});
    check_labels(pod[2], {{"__address__", "10.0.0.1"},
                          {"__meta_kubernetes_pod_container_name", "sidecar"},
                          {"__meta_kubernetes_pod_container_image", "proxy:2"}});
}

TEST_CASE("builders: a builder can be kept, changed and applied again; setters replace") {
    auto pod = sim::pod("shop", "web-0").ip("10.0.0.1").container("web", "web:1", 80);
    const auto before = discovered(Role::pod, {pod});
    check_labels(before.at("pod/shop/web-0").front(), {{"__meta_kubernetes_pod_ready", "false"}});
    pod.ready().phase("Failed").ip("10.0.0.2").controller("Job", "a").controller("Job", "b");
    const auto after = discovered(Role::pod, {pod}, {.job = true});
    check_labels(after.at("pod/shop/web-0").front(), {{"__address__", "10.0.0.2:80"},
                                                      {"__meta_kubernetes_pod_ready", "true"},
                                                      {"__meta_kubernetes_pod_phase", "Failed"},
                                                      {"__meta_kubernetes_pod_job_name", "b"}});
}

TEST_CASE("builders: a service has a target for each port") {
    const auto targets = discovered(
        Role::service,
        {sim::service("shop", "web").port("http", 80).port("dns", 53, "UDP").selector("app", "web"),
         sim::service("shop", "db").external_name("db.example.com").port("", 5432)});
    REQUIRE(targets.size() == 2);
    const auto& web = targets.at("svc/shop/web");
    REQUIRE(web.size() == 2);
    check_labels(web[0], {{"__address__", "web.shop.svc:80"},
                          {"__meta_kubernetes_service_type", "ClusterIP"},
                          {"__meta_kubernetes_service_cluster_ip", "10.96.0.1"},
                          {"__meta_kubernetes_service_port_name", "http"}});
    check_labels(web[1], {{"__address__", "web.shop.svc:53"},
                          {"__meta_kubernetes_service_port_protocol", "UDP"}});
    check_labels(targets.at("svc/shop/db").front(),
                 {{"__meta_kubernetes_service_type", "ExternalName"},
                  {"__meta_kubernetes_service_external_name", "db.example.com"},
                  {"__meta_kubernetes_service_cluster_ip", ""}});
}

TEST_CASE("builders: a slice has a target for each endpoint, with its pod, node and namespace") {
    const auto targets = discovered(
        Role::endpointslice,
        {sim::service("shop", "web").label("team", "a").port("http", 8080),
         sim::pod("shop", "web-0").ip("10.0.0.1").ready().container("web", "web:1", 8080),
         sim::node("n1").label("disk", "ssd"), sim::namespace_("shop").label("stage", "test"),
         sim::endpoint_slice("shop", "web-x", "web")
             .port("http", 8080)
             .endpoint("10.0.0.1")
             .pod("web-0")
             .node("n1")
             .zone("a")
             .hostname("web-0")
             .endpoint("10.0.0.2")
             .ready(false)
             .serving(false)
             .terminating()},
        {.node = true, .namespace_ = true});
    REQUIRE(targets.size() == 1);
    const auto& slice = targets.at("endpointslice/shop/web-x");
    REQUIRE(slice.size() == 2);
    check_labels(slice[0],
                 {{"__address__", "10.0.0.1:8080"},
                  {"__meta_kubernetes_endpointslice_name", "web-x"},
                  {"__meta_kubernetes_endpointslice_address_type", "IPv4"},
                  {"__meta_kubernetes_endpointslice_port_name", "http"},
                  {"__meta_kubernetes_endpointslice_endpoint_conditions_ready", "true"},
                  {"__meta_kubernetes_endpointslice_endpoint_zone", "a"},
                  {"__meta_kubernetes_endpointslice_endpoint_hostname", "web-0"},
                  {"__meta_kubernetes_endpointslice_address_target_name", "web-0"},
                  {"__meta_kubernetes_service_name", "web"},
                  {"__meta_kubernetes_service_label_team", "a"},
                  {"__meta_kubernetes_pod_name", "web-0"},
                  {"__meta_kubernetes_pod_ready", "true"},
                  {"__meta_kubernetes_node_label_disk", "ssd"},
                  {"__meta_kubernetes_namespace_label_stage", "test"},
                  {"__meta_kubernetes_namespace_label_kubernetes_io_metadata_name", "shop"}});
    check_labels(slice[1],
                 {{"__address__", "10.0.0.2:8080"},
                  {"__meta_kubernetes_endpointslice_endpoint_conditions_ready", "false"},
                  {"__meta_kubernetes_endpointslice_endpoint_conditions_serving", "false"},
                  {"__meta_kubernetes_endpointslice_endpoint_conditions_terminating", "true"}});
}

TEST_CASE("builders: endpoints have a target for each address, ready or not") {
    const auto targets = discovered(
        Role::endpoints, {sim::service("shop", "web"),
                          sim::pod("shop", "web-0").ip("10.0.0.1").container("web", "web:1", 8080),
                          sim::endpoints("shop", "web")
                              .port("http", 8080)
                              .address("10.0.0.2", false)
                              .node("n2")
                              .address("10.0.0.1")
                              .pod("web-0")
                              .node("n1")
                              .hostname("h")});
    REQUIRE(targets.size() == 1);
    const auto& found = targets.at("endpoints/shop/web");
    REQUIRE(found.size() == 2);
    check_labels(found[0], {{"__address__", "10.0.0.1:8080"},
                            {"__meta_kubernetes_endpoint_ready", "true"},
                            {"__meta_kubernetes_endpoint_hostname", "h"},
                            {"__meta_kubernetes_endpoint_node_name", "n1"},
                            {"__meta_kubernetes_endpoint_port_name", "http"},
                            {"__meta_kubernetes_pod_name", "web-0"}});
    check_labels(found[1], {{"__address__", "10.0.0.2:8080"},
                            {"__meta_kubernetes_endpoint_ready", "false"},
                            {"__meta_kubernetes_endpoint_node_name", "n2"}});
}

TEST_CASE("builders: containers have IDs, and init containers are distinguished from the others") {
    auto pod = sim::pod("shop", "web-0")
                   .ip("10.0.0.1")
                   .container("web", "web:1", 8080)
                   .container_id("containerd://w1")
                   .init_container("setup", "setup:1", 9000)
                   .container_id("containerd://s1")
                   .container("new", "new:1");
    const auto before = discovered(Role::pod, {pod}).at("pod/shop/web-0");
    REQUIRE(before.size() == 3);
    check_labels(before[0], {{"__address__", "10.0.0.1:8080"},
                             {"__meta_kubernetes_pod_container_id", "containerd://w1"},
                             {"__meta_kubernetes_pod_container_init", "false"}});
    check_labels(before[1], {{"__meta_kubernetes_pod_container_name", "new"},
                             {"__meta_kubernetes_pod_container_id", ""}});
    check_labels(before[2], {{"__address__", "10.0.0.1:9000"},
                             {"__meta_kubernetes_pod_container_name", "setup"},
                             {"__meta_kubernetes_pod_container_id", "containerd://s1"},
                             {"__meta_kubernetes_pod_container_init", "true"}});
    pod.container_id("containerd://n1").container_id("containerd://n2");
    const auto after = discovered(Role::pod, {pod}).at("pod/shop/web-0");
    check_labels(after[1], {{"__meta_kubernetes_pod_container_id", "containerd://n2"}});
    const boost::json::object json = pod;
    CHECK(json.at("status").at("containerStatuses").as_array().size() == 2);
}

TEST_CASE("builders: an ingress has a target for each path, with https where there is TLS") {
    const auto targets = discovered(Role::ingress, {sim::ingress("shop", "web")
                                                        .label("team", "a")
                                                        .class_name("nginx")
                                                        .path("shop.example.com", "/", "web", 80)
                                                        .path("", "/status", "status", 8080)
                                                        .path("shop.example.com", "/api", "api", 81)
                                                        .tls("shop.example.com", "shop-tls"),
                                                    sim::ingress("shop", "empty")});
    REQUIRE(targets.size() == 1);
    const auto& web = targets.at("ingress/shop/web");
    REQUIRE(web.size() == 3);
    check_labels(web[0], {{"__address__", "shop.example.com"},
                          {"__meta_kubernetes_ingress_name", "web"},
                          {"__meta_kubernetes_ingress_label_team", "a"},
                          {"__meta_kubernetes_ingress_class_name", "nginx"},
                          {"__meta_kubernetes_ingress_scheme", "https"},
                          {"__meta_kubernetes_ingress_host", "shop.example.com"},
                          {"__meta_kubernetes_ingress_path", "/"}});
    check_labels(web[1], {{"__meta_kubernetes_ingress_host", "shop.example.com"},
                          {"__meta_kubernetes_ingress_path", "/api"}});
    check_labels(web[2], {{"__meta_kubernetes_ingress_scheme", "http"},
                          {"__meta_kubernetes_ingress_host", ""},
                          {"__meta_kubernetes_ingress_path", "/status"}});
}

TEST_CASE("builders: a gateway has a target for each listener, a route for each match there") {
    const boost::json::object gateway = sim::gateway("infra", "edge")
                                            .class_name("envoy")
                                            .listener("web", "HTTPS", 443, "*.example.com")
                                            .listener("own", "HTTP", 80)
                                            .routes_from("Same")
                                            .listener("rpc", "HTTP", 81)
                                            .route_kind("GRPCRoute")
                                            .listener("db", "TLS", 5432)
                                            .address("192.0.2.1");
    const auto listeners = discovered(Role::gateway, {gateway});
    REQUIRE(listeners.size() == 1);
    REQUIRE(listeners.at("gateway/infra/edge").size() == 4);
    check_labels(listeners.at("gateway/infra/edge")[0],
                 {{"__address__", "*.example.com:443"},
                  {"__meta_kubernetes_gateway_class_name", "envoy"},
                  {"__meta_kubernetes_gateway_addresses", "192.0.2.1"},
                  {"__meta_kubernetes_gateway_listener_name", "web"}});
    const auto routes = discovered(Role::httproute, {gateway, sim::http_route("shop", "web")
                                                                  .parent("edge", "", "infra")
                                                                  .hostname("a.example.com")
                                                                  .path("/")
                                                                  .path("/x", "Exact")
                                                                  .parent("gone")
                                                                  .accepted(false)});
    REQUIRE(routes.size() == 1);
    REQUIRE(routes.at("httproute/shop/web").size() == 2);
    check_labels(routes.at("httproute/shop/web")[1],
                 {{"__address__", "a.example.com:443"},
                  {"__meta_kubernetes_httproute_scheme", "https"},
                  {"__meta_kubernetes_httproute_path", "/x"},
                  {"__meta_kubernetes_httproute_path_type", "Exact"}});
    const auto calls = discovered(Role::grpcroute, {gateway, sim::grpc_route("shop", "api")
                                                                 .parent("edge", "rpc", "infra")
                                                                 .hostname("b")
                                                                 .method("shop.Cart", "Add")});
    check_labels(calls.at("grpcroute/shop/api").at(0),
                 {{"__address__", "b:81"},
                  {"__meta_kubernetes_grpcroute_service", "shop.Cart"},
                  {"__meta_kubernetes_grpcroute_method", "Add"}});
    const auto names = discovered(
        Role::tlsroute, {gateway, sim::tls_route("shop", "db").parent("edge", "db", "infra")});
    check_labels(names.at("tlsroute/shop/db").at(0), {{"__address__", "192.0.2.1:5432"}});
    CHECK_THROWS_AS(sim::gateway("infra", "edge").routes_from("All"), std::logic_error);
    CHECK_THROWS_AS(sim::http_route("shop", "web").accepted(true), std::logic_error);
}

TEST_CASE("builders: a watcher gets what reaches no label: hints, and the UID of the pod behind") {
    for (const bool protobuf : {true, false}) {
        CAPTURE(protobuf);
        Simulation sim(protobuf ? sim::ApiServerOptions() : json_server());
        sim.server.apply(sim::endpoint_slice("shop", "web-x", "web")
                             .endpoint("10.0.0.1")
                             .pod("web-0", "u-0")
                             .hint("a")
                             .hint("b")
                             .endpoint("10.0.0.2")
                             .pod("web-1"));
        std::vector<std::shared_ptr<const api::EndpointSlice>> slices;
        Watcher<api::EndpointSlice> watcher(
            sim.context.get_executor(), {.api_server = {.url = sim.server.url()}},
            [&](const ObjectDiff<api::EndpointSlice>& diff) { slices = diff.added; });
        watcher.async_run(boost::asio::detached);
        sim.settle();
        REQUIRE(slices.size() == 1);
        const auto& endpoints = slices.front()->endpoints;
        REQUIRE(endpoints.size() == 2);
        CHECK(endpoints[0].hints.for_zones == std::vector<api::ForZone>{{"a"}, {"b"}});
        CHECK(endpoints[0].target_ref->uid == "u-0");
        CHECK(endpoints[1].hints.for_zones.empty());
        CHECK(endpoints[1].target_ref->name == "web-1");
        CHECK(endpoints[1].target_ref->uid.empty());
    }
}

TEST_CASE("builders: a node has a target with its address and the port of its kubelet") {
    const auto targets =
        discovered(Role::node, {sim::node("n1")
                                    .address("192.168.0.1")
                                    .address("n1.example.com", "Hostname")
                                    .provider_id("aws:///eu-1/i-1")
                                    .label("topology.kubernetes.io/zone", "a"),
                                sim::node("n2").address("192.168.0.2").kubelet_port(1).ready(false),
                                sim::node("n3")});
    REQUIRE(targets.size() == 2);
    check_labels(targets.at("node/n1").front(),
                 {{"__address__", "192.168.0.1:10250"},
                  {"__meta_kubernetes_node_name", "n1"},
                  {"__meta_kubernetes_node_provider_id", "aws:///eu-1/i-1"},
                  {"__meta_kubernetes_node_address_Hostname", "n1.example.com"},
                  {"__meta_kubernetes_node_label_topology_kubernetes_io_zone", "a"}});
    check_labels(targets.at("node/n2").front(), {{"__address__", "192.168.0.2:1"}});
}

TEST_CASE("builders: ReplicaSets and Jobs lead from a pod to its Deployment or CronJob") {
    const auto owned_pod = [](std::string_view name, std::string_view kind, std::string_view owner,
                              std::string_view ip) {
        return sim::pod("shop", name).ip(ip).controller(kind, owner).container("c", "c:1", 80);
    };
    const auto targets =
        discovered(Role::pod,
                   {owned_pod("web-1-a", "ReplicaSet", "web-1", "10.0.0.1"),
                    owned_pod("nightly-1-a", "Job", "nightly-1", "10.0.0.2"),
                    sim::replica_set("shop", "web-1").controller("Deployment", "web"),
                    sim::job("shop", "nightly-1").controller("CronJob", "nightly")},
                   {.deployment = true, .job = true, .cronjob = true});
    REQUIRE(targets.size() == 2);
    check_labels(targets.at("pod/shop/web-1-a").front(),
                 {{"__meta_kubernetes_pod_deployment_name", "web"}});
    check_labels(targets.at("pod/shop/nightly-1-a").front(),
                 {{"__meta_kubernetes_pod_job_name", "nightly-1"},
                  {"__meta_kubernetes_pod_cronjob_name", "nightly"}});
    const boost::json::object job = sim::job("shop", "nightly-1").controller("CronJob", "nightly");
    CHECK(job.at("metadata").at("ownerReferences").at(0).at("apiVersion") == "batch/v1");
}

TEST_CASE("builders: secrets and ConfigMaps can be immutable") {
    const boost::json::object secret = sim::secret("shop", "db").immutable();
    CHECK(secret.at("immutable") == true);
    const boost::json::object map = sim::config_map("shop", "conf").immutable().immutable(false);
    CHECK(map.at("immutable") == false);
}

TEST_CASE("builders: the data of a secret is in base64, that of a ConfigMap is plain") {
    const boost::json::object secret =
        sim::secret("shop", "db").type("kubernetes.io/basic-auth").data("password", "s3cret");
    CHECK(secret.at("data").at("password") == "czNjcmV0");
    CHECK(secret.at("type") == "kubernetes.io/basic-auth");
    const boost::json::object map = sim::config_map("shop", "conf").data("a", "b").data("c", "d");
    CHECK(map.at("data") == boost::json::object{{"a", "b"}, {"c", "d"}});
    Simulation sim;
    sim.server.apply(secret);
    sim.server.apply(map);
    CHECK(sim.server.get("secrets", "shop", "db")->at("data") == secret.at("data"));
    CHECK(sim.server.count("configmaps") == 1);
}

TEST_CASE("builders: what is said of a part that is not there yet is an error") {
    CHECK_THROWS_AS(sim::pod("shop", "a").port("http", 80), std::logic_error);
    CHECK_THROWS_AS(sim::pod("shop", "a").container_id("x"), std::logic_error);
    CHECK_THROWS_AS(sim::endpoint_slice("shop", "a", "b").hint("a"), std::logic_error);
    CHECK_THROWS_AS(sim::endpoint_slice("shop", "a", "b").ready(), std::logic_error);
    CHECK_THROWS_AS(sim::endpoint_slice("shop", "a", "b").port("x", 1).zone("a"), std::logic_error);
    CHECK_THROWS_AS(sim::endpoints("shop", "a").pod("b"), std::logic_error);
    Simulation sim;
    CHECK_THROWS_AS(sim.server.apply(sim::pod("shop", "")), std::invalid_argument);
    CHECK_THROWS_AS(sim.server.apply(sim::pod("", "a")), std::invalid_argument);
}

}  // namespace k8s_sd::test
