#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace roles_service_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

std::string service(const std::string& spec, const std::string& meta = "") {
    return R"({"metadata":{"name":"s","namespace":"default")" + meta + R"(},"spec":{)" + spec +
           "}}";
}
std::vector<LabelMap> targets(const std::string& json, LabelDialect dialect = prom) {
    return World(dialect).add(Kind::service, json).targets(Role::service, "default", "s");
}

}  // namespace

TEST_CASE("Role service: each port of a service is a target at its name in the cluster") {
    const std::string json = service(
        R"("type":"ClusterIP","clusterIP":"10.0.0.1","ports":[{"name":"web","port":30900,
            "protocol":"TCP","nodePort":1,"targetPort":"x"},
           {"port":30901,"protocol":"UDP"}])",
        R"(,"labels":{"a":"b"})");
    const LabelMap common = labels({{"~namespace", "default"},
                                    {"~service_name", "s"},
                                    {"~service_type", "ClusterIP"},
                                    {"~service_cluster_ip", "10.0.0.1"}}) +
                            family("service_label", {{"a", "b"}});
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(json, dialect) ==
              std::vector{common + labels({{"__address__", "s.default.svc:30900"},
                                           {"~service_port_name", "web"},
                                           {"~service_port_number", "30900"},
                                           {"~service_port_protocol", "TCP"}}),
                          common + labels({{"__address__", "s.default.svc:30901"},
                                           {"~service_port_number", "30901"},
                                           {"~service_port_protocol", "UDP"}})});
    }
    World world;
    const auto group = world.add(Kind::service, json).group(Role::service, "default", "s");
    CHECK(group->source() == "svc/default/s");
    CHECK((*group)[1].get("__meta_kubernetes_service_port_name") == "");
}

TEST_CASE("Role service: an ExternalName service has its external name instead of an address") {
    for (const LabelDialect dialect : dialects) {
        const auto all = targets(
            service(
                R"("type":"ExternalName","externalName":"x.example.org","ports":[{"port":443}])"),
            dialect);
        REQUIRE(all.size() == 1);
        CHECK(value(all[0], "~service_type") == "ExternalName");
        CHECK(value(all[0], "~service_external_name") == "x.example.org");
        CHECK_FALSE(has_family(all[0], "~service_cluster_ip"));
    }
}

TEST_CASE("Role service: the address of a load balancer comes from the spec, with Prometheus") {
    const std::string json = service(
        R"("type":"LoadBalancer","clusterIP":"10.0.0.1","loadBalancerIP":"127.0.0.1",
            "ports":[{"port":1}]},
        "status":{"loadBalancer":{"ingress":[{"ip":"192.168.1.15"}]})");
    const auto of_prometheus = targets(json, prom).at(0), of_vmagent = targets(json, vm).at(0);
    CHECK(value(of_prometheus, "~service_loadbalancer_ip") == "127.0.0.1");
    CHECK_FALSE(has_family(of_vmagent, "~service_loadbalancer_ip"));
    for (const LabelMap& target : {of_prometheus, of_vmagent})
        CHECK(value(target, "~service_cluster_ip") == "10.0.0.1");
    const auto without = targets(service(R"("type":"LoadBalancer","ports":[{"port":1}])"));
    CHECK(value(without.at(0), "~service_loadbalancer_ip") == "");
    const auto other_type =
        targets(service(R"("type":"ClusterIP","loadBalancerIP":"127.0.0.1","ports":[{"port":1}])"));
    CHECK_FALSE(has_family(other_type.at(0), "~service_loadbalancer_ip"));
}

TEST_CASE("Role service: a headless service has the address None, one without ports no target") {
    for (const LabelDialect dialect : dialects) {
        CHECK(
            value(targets(service(R"("type":"ClusterIP","clusterIP":"None","ports":[{"port":1}])"),
                          dialect)
                      .at(0),
                  "~service_cluster_ip") == "None");
        CHECK(targets(service(R"("type":"ClusterIP","clusterIP":"None")"), dialect).empty());
        CHECK(targets(service(R"("type":"ExternalName","externalName":"x","ports":null)"), dialect)
                  .empty());
    }
}

TEST_CASE("Role service: kube-dns is three targets that differ in their port labels") {
    World world(vm);
    world.add(
        Kind::service,
        R"({"metadata":{"name":"kube-dns","namespace":"kube-system"},"spec":{"type":"ClusterIP",
            "clusterIP":"10.96.0.10",
        "ports":[{"name":"dns","protocol":"UDP","port":53},{"name":"dns-tcp","protocol":"TCP",
            "port":53},{"name":"metrics","protocol":"TCP","port":9153}]}})");
    CHECK(world.addresses(Role::service, "kube-system", "kube-dns") ==
          std::vector<std::string>{"kube-dns.kube-system.svc:53", "kube-dns.kube-system.svc:53",
                                   "kube-dns.kube-system.svc:9153"});
    const auto all = world.targets(Role::service, "kube-system", "kube-dns");
    CHECK(value(all[0], "~service_port_name") == "dns");
    CHECK(value(all[1], "~service_port_name") == "dns-tcp");
}

TEST_CASE(
    "Role service: attach_metadata.namespace adds the namespace's metadata, the others nothing") {
    for (const LabelDialect dialect : dialects) {
        World world(
            dialect,
            {.node = true, .namespace_ = true, .deployment = true, .job = true, .cronjob = true});
        const std::string json = service(R"("ports":[{"port":1}])");
        const LabelMap plain = targets(json, dialect).at(0);
        CHECK(world.add(Kind::service, json).targets(Role::service, "default", "s").at(0) == plain);
        CHECK(world.asked() == std::set<World::Key>{{Kind::namespace_, "", "default"}});
        world.add(Kind::namespace_,
                  R"({"metadata":{"name":"default","labels":{"x":""},"annotations":{"y":"z"}}})");
        CHECK(world.targets(Role::service, "default", "s").at(0) ==
              plain + labels({{"~namespace_labelpresent_x", "true"}}) +
                  family("namespace_annotation", {{"y", "z"}}));
    }
}

TEST_CASE("Role service: what reaches no label is no change of a service, the rest is one") {
    const auto object = [](World& world, const std::string& json) -> const Object& {
        return world.add(Kind::service, json).object(Kind::service, "default", "s");
    };
    World base, same;
    const Object& s =
        object(base, service(R"("type":"ClusterIP","clusterIP":"1","ports":[{"port":1}])"));
    CHECK(s.same_content(object(
        same, service(
                  R"("type":"ClusterIP","clusterIP":"1","selector":{"a":"b"},"ports":[{"port":1,
            "targetPort":7}])",
                  R"(,"resourceVersion":"2")"))));
    for (const std::string& other :
         {service(R"("type":"NodePort","clusterIP":"1","ports":[{"port":1}])"),
          service(R"("type":"ClusterIP","clusterIP":"2","ports":[{"port":1}])"),
          service(R"("type":"ClusterIP","clusterIP":"1","ports":[{"port":2}])"),
          service(R"("type":"ClusterIP","clusterIP":"1","ports":[])"),
          service(R"("type":"ClusterIP","clusterIP":"1","ports":[{"port":1}])",
                  R"(,"labels":{"a":""})")}) {
        World world;
        CAPTURE(other);
        CHECK_FALSE(s.same_content(object(world, other)));
    }
}

}  // namespace roles_service_tests
