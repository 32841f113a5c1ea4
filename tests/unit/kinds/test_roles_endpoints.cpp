#include "support/endpoints_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::test::endpoints_fixture;

namespace {

const LabelMap pod_labels = labels({{"~pod_name", "p"},
                                    {"~pod_ip", "1.2.3.4"},
                                    {"~pod_ready", "unknown"},
                                    {"~pod_node_name", "testnode"},
                                    {"~pod_host_ip", "2.3.4.5"},
                                    {"~pod_uid", "d"}});
LabelMap container(const std::string& name, const std::string& image, const std::string& port,
                   const std::string& number, const std::string& init = "false") {
    return labels({{"~pod_container_name", name},
                   {"~pod_container_image", image},
                   {"~pod_container_port_name", port},
                   {"~pod_container_port_number", number},
                   {"~pod_container_port_protocol", "TCP"},
                   {"~pod_container_init", init}});
}
const LabelMap group = labels({{"~namespace", "default"}, {"~endpoints_name", "e"}});

}  // namespace

TEST_CASE("Role endpoints: each port of each address is a target, ready ones first") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints,
                  endpoints(subsets25, R"(,"annotations":{"test.annotation":"t"})"));
        const LabelMap common =
            group + family("endpoints_annotation", {{"test_annotation", "t"}}) +
            labels({{"~endpoint_port_name", "p"}, {"~endpoint_port_protocol", "TCP"}});
        CHECK(targets(world) ==
              std::vector{
                  common + labels({{"__address__", "1.2.3.4:9000"},
                                   {"~endpoint_hostname", "h1"},
                                   {"~endpoint_node_name", "foobar"},
                                   {"~endpoint_ready", "true"}}),
                  common + labels({{"__address__", "2.3.4.5:9001"}, {"~endpoint_ready", "true"}}),
                  common + labels({{"__address__", "2.3.4.5:9001"}, {"~endpoint_ready", "false"}}),
                  common + labels({{"__address__", "6.7.8.9:9002"},
                                   {"~endpoint_ready", "true"},
                                   {"~endpoint_address_target_kind", "Node"},
                                   {"~endpoint_address_target_name", "barbaz"}})});
        CHECK(world.group(Role::endpoints, "default", "e")->source() == "endpoints/default/e");
        CHECK(world.asked() == std::set<World::Key>{{Kind::service, "default", "e"}});
    }
}

TEST_CASE("Role endpoints: a long text of a pod, repeated for each port, is bounded") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        const std::string image(std::size_t{700} << 10, 'i');
        world.add(Kind::pod, pod(R"("containers":[{"name":"c","image":")" + image +
                                 R"(","ports":[{"containerPort":9000,"protocol":"TCP"}]}])"));
        std::string ports = testport;
        for (int i = 0; i < 100; ++i) ports += R"(,{"port":9000,"protocol":"UDP"})";
        world.add(Kind::endpoints, backed(ports));
        const bool writes_protocol =
            detail::rules_of(dialect).container_port_has_protocol_of_endpoint;
        const TargetGroupPtr group = world.group(Role::endpoints, "default", "e");
        CHECK(world.overfull() == writes_protocol);
        CHECK((group == nullptr) == writes_protocol);
        world.add(Kind::endpoints, backed(testport));
        CHECK(world.group(Role::endpoints, "default", "e"));
        CHECK_FALSE(world.overfull());
    }
}

TEST_CASE("Role endpoints: several addresses and ports come port by port") {
    World world;
    world.add(Kind::endpoints,
              endpoints(
                  R"({"addresses":[{"ip":"1"},{"ip":"2"}],"notReadyAddresses":[{"ip":"3"}],
            "ports":[{"port":8},{"port":9}]})"));
    CHECK(addresses(world) == Addresses{"1:8", "2:8", "3:8", "1:9", "2:9", "3:9"});
}

TEST_CASE("Role endpoints: a pod gives its labels, the matching container and its other ports") {
    const LabelMap endpoint = labels({{"__address__", "4.3.2.1:9000"},
                                      {"~endpoint_port_name", "testport"},
                                      {"~endpoint_port_protocol", "TCP"},
                                      {"~endpoint_ready", "true"}});
    const LabelMap reference =
        labels({{"~endpoint_address_target_kind", "Pod"}, {"~endpoint_address_target_name", "p"}});
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport)).add(Kind::pod, pod(two_containers));
        const LabelMap extra = dialect == vm ? reference : LabelMap();
        CHECK(targets(world) ==
              std::vector{group + endpoint + reference + pod_labels +
                              container("c1", "i1", "mainport", "9000"),
                          group + labels({{"__address__", "1.2.3.4:9001"}}) + extra + pod_labels +
                              container("c2", "i2", "sideport", "9001")});
        CHECK(world.asked(Kind::pod, "default", "p"));
    }
}

TEST_CASE("Role endpoints: the service gives name and metadata, with vmagent its type and address "
          "as well") {
    const std::string service =
        R"({"metadata":{"name":"e","namespace":"default","labels":{"app/name":"x"}},
            "spec":{"type":"ClusterIP","clusterIP":"1.1.1.1","ports":[{"name":"q","port":1}]}})";
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, endpoints(subsets25));
        const auto before = targets(world);
        world.add(Kind::service, service);
        const LabelMap more =
            labels({{"~service_name", "e"}}) + family("service_label", {{"app_name", "x"}}) +
            (dialect == vm
                 ? labels({{"~service_type", "ClusterIP"}, {"~service_cluster_ip", "1.1.1.1"}})
                 : LabelMap());
        const auto after = targets(world);
        REQUIRE(after.size() == before.size());
        for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] == before[i] + more);
        world.remove(Kind::service, "default", "e");
        CHECK(targets(world) == before);
    }
}

TEST_CASE("Role endpoints: without subsets, ports or addresses there is no target") {
    for (const LabelDialect dialect : dialects) {
        for (const char* subsets :
             {"", "{}", R"({"addresses":[{"ip":"1.1.1.1"}]})", R"({"ports":[{"port":1}]})",
              R"({"addresses":[],"ports":[{"port":1}]})"}) {
            World world(dialect);
            CHECK(world.add(Kind::endpoints, endpoints(subsets))
                      .group(Role::endpoints, "default", "e") == nullptr);
        }
    }
}

TEST_CASE("Role endpoints: ports of init containers count, with vmagent those of sidecars only") {
    const std::string init =
        R"(,"initContainers":[{"name":"ic1","image":"j1","ports":[{"name":"a",
            "containerPort":1111,"protocol":"TCP"}]},
        {"name":"ic2","image":"j2","restartPolicy":"Always","ports":[{"name":"b",
            "containerPort":9111,"protocol":"TCP"}]}])";
    const std::string one =
        R"("containers":[{"name":"c1","image":"i1","ports":[{"name":"mainport",
            "containerPort":9000,"protocol":"TCP"}]}])";
    const std::string ports = testport + R"(,{"name":"side","port":9111,"protocol":"TCP"})";
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(ports)).add(Kind::pod, pod(one + init));
        const auto all = targets(world);
        REQUIRE(all.size() == (dialect == prom ? 3 : 2));
        CHECK(value(all[0], "__address__") == "4.3.2.1:9000");
        CHECK(value(all[0], "~pod_container_init") == "false");
        CHECK(value(all[1], "__address__") == "4.3.2.1:9111");
        CHECK(value(all[1], "~pod_container_name") == "ic2");
        CHECK(value(all[1], "~pod_container_image") == "j2");
        CHECK(value(all[1], "~pod_container_init") == "true");
        if (dialect == prom)
            CHECK(all[2] == group + labels({{"__address__", "1.2.3.4:1111"}}) + pod_labels +
                                container("ic1", "j1", "a", "1111", "true"));
        world.add(Kind::endpoints, backed(R"({"port":1111,"protocol":"TCP"})"));
        CHECK(value(targets(world).at(0), "~pod_container_name") == (dialect == prom ? "ic1" : ""));
    }
}

TEST_CASE("Role endpoints: a change of the pod reaches the target") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport))
            .add(Kind::pod, pod(two_containers, R"("podIP":"1.2.3.4","phase":"Pending")"));
        CHECK(value(targets(world).at(0), "~pod_phase") == "Pending");
        world.add(Kind::pod,
                  pod(two_containers,
                      R"("podIP":"1.2.3.4","phase":"Running","conditions":[{"type":"Ready",
            "status":"True"}])"));
        for (const LabelMap& target : targets(world)) {
            CHECK(value(target, "~pod_phase") == "Running");
            CHECK(value(target, "~pod_ready") == "true");
        }
        CHECK(world.asked(Kind::pod, "default", "p"));
    }
}

TEST_CASE("Role endpoints: of containers that declare one port the last one counts, whatever the "
          "protocol") {
    const std::string twice =
        R"("containers":[{"name":"c1","ports":[{"containerPort":8080}]},{"name":"c2",
            "ports":[{"name":"x","containerPort":8080,"protocol":"UDP"},{"name":"y",
            "containerPort":8080}]}])";
    const std::string dns =
        R"("containers":[{"name":"c","ports":[{"name":"t","containerPort":53,"protocol":"TCP"},
            {"name":"u","containerPort":53,"protocol":"UDP"}]}])";
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(R"({"port":8080,"protocol":"SCTP"})"))
            .add(Kind::pod, pod(twice));
        const auto all = targets(world);
        REQUIRE(all.size() == 1);
        CHECK(value(all[0], "~pod_container_name") == "c2");
        CHECK(value(all[0], "~pod_container_port_name") == "x");
        CHECK(value(all[0], "~pod_container_port_protocol") == (dialect == prom ? "SCTP" : "UDP"));
        World names(dialect);
        names.add(Kind::endpoints, backed(R"({"port":53,"protocol":"TCP"})"))
            .add(Kind::pod, pod(dns));
        CHECK(addresses(names) == Addresses{"4.3.2.1:53"});
    }
}

TEST_CASE("Role endpoints: a pod without an address has no targets of its own") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport)).add(Kind::pod, pod(two_containers, ""));
        const auto all = targets(world);
        REQUIRE(all.size() == 1);
        CHECK(value(all[0], "~pod_name") == "p");
        CHECK(value(all[0], "~pod_container_name") == "c1");
        CHECK(value(all[0], "~pod_ip") == "");
    }
}

TEST_CASE("Role endpoints: a pod that is not known is asked for and leaves its endpoint a target") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport));
        CHECK(targets(world) ==
              std::vector{group + labels({{"__address__", "4.3.2.1:9000"},
                                          {"~endpoint_port_name", "testport"},
                                          {"~endpoint_port_protocol", "TCP"},
                                          {"~endpoint_ready", "true"},
                                          {"~endpoint_address_target_kind", "Pod"},
                                          {"~endpoint_address_target_name", "p"}})});
        CHECK(world.asked(Kind::pod, "default", "p"));
        world.add(Kind::pod, pod(two_containers));
        CHECK(targets(world).size() == 2);
    }
}

TEST_CASE("Role endpoints: references to other things than pods ask for no pod") {
    for (const char* kind : {"Node", "pod", "", "VirtualMachineInstance"}) {
        World world;
        world.add(Kind::endpoints,
                  endpoints(R"({"addresses":[{"ip":"1.1.1.1","targetRef":{"kind":")" +
                            std::string(kind) +
                            R"(","name":"p","namespace":"default"}}],"ports":[{"port":1}]})"));
        world.add(Kind::pod, pod(two_containers));
        CHECK(targets(world).size() == 1);
        CHECK_FALSE(world.asked(Kind::pod, "default", "p"));
    }
}

TEST_CASE("Role endpoints: a port that no container declares leaves the pod's ports targets of "
          "their own") {
    const std::string service =
        R"({"metadata":{"name":"test-eps","namespace":"default"},"spec":{"type":"ClusterIP",
            "clusterIP":"1.2.3.4"}})";
    const std::string p =
        R"({"metadata":{"name":"test-pod","namespace":"default"},
            "spec":{"containers":[{"name":"metrics","ports":[{"name":"http","containerPort":8428,
            "protocol":"TCP"}]}]},
        "status":{"podIP":"192.168.15.1","phase":"Running"}})";
    const auto eps = [](const std::string& port) {
        return R"({"metadata":{"name":"test-eps","namespace":"default"},
            "subsets":[{"addresses":[{"ip":"10.13.15.15","targetRef":{"kind":"Pod",
            "name":"test-pod","namespace":"default"}}],
            "ports":[{"name":"web","port":)" +
               port + R"(,"protocol":"TCP"}]}]})";
    };
    World world(vm);
    world.add(Kind::endpoints, eps("8081")).add(Kind::pod, p).add(Kind::service, service);
    const LabelMap common = labels({{"~namespace", "default"},
                                    {"~endpoints_name", "test-eps"},
                                    {"~service_name", "test-eps"},
                                    {"~service_type", "ClusterIP"},
                                    {"~service_cluster_ip", "1.2.3.4"},
                                    {"~pod_name", "test-pod"},
                                    {"~pod_ip", "192.168.15.1"},
                                    {"~pod_phase", "Running"},
                                    {"~pod_ready", "unknown"},
                                    {"~endpoint_address_target_kind", "Pod"},
                                    {"~endpoint_address_target_name", "test-pod"}});
    const LabelMap endpoint = labels({{"~endpoint_port_name", "web"},
                                      {"~endpoint_port_protocol", "TCP"},
                                      {"~endpoint_ready", "true"}});
    const LabelMap http = container("metrics", "", "http", "8428");
    LabelMap without_image = http;
    without_image.erase("__meta_kubernetes_pod_container_image");
    CHECK(world.targets(Role::endpoints, "default", "test-eps") ==
          std::vector{common + endpoint + labels({{"__address__", "10.13.15.15:8081"}}),
                      common + without_image + labels({{"__address__", "192.168.15.1:8428"}})});
    world.add(Kind::endpoints, eps("8428"));
    CHECK(world.targets(Role::endpoints, "default", "test-eps") ==
          std::vector{common + endpoint + without_image +
                      labels({{"__address__", "10.13.15.15:8428"}})});
}

TEST_CASE(
    "Role endpoints: a pod behind addresses that are not ready gives its other ports as well") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport, "notReadyAddresses"))
            .add(Kind::pod, pod(two_containers));
        const auto all = targets(world);
        REQUIRE(all.size() == 2);
        CHECK(value(all[0], "~endpoint_ready") == "false");
        CHECK(value(all[1], "__address__") == "1.2.3.4:9001");
        CHECK_FALSE(has_family(all[1], "~endpoint_ready"));
    }
}

TEST_CASE("Role endpoints: a service that comes later reaches the pod's other ports, too") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpoints, backed(testport)).add(Kind::pod, pod(two_containers));
        CHECK_FALSE(has_family(targets(world).at(0), "~service_"));
        world.add(Kind::service,
                  R"({"metadata":{"name":"e","namespace":"default","labels":{"l":"v"}}})");
        const auto all = targets(world);
        REQUIRE(all.size() == 2);
        for (const LabelMap& target : all) CHECK(value(target, "~service_label_l") == "v");
    }
}

TEST_CASE("Role endpoints: a pod that several addresses name has its other ports once") {
    World world;
    world.add(Kind::pod, pod(two_containers));
    const std::string ref = R"("targetRef":{"kind":"Pod","name":"p","namespace":"default"}})";
    world.add(Kind::endpoints,
              endpoints(R"({"addresses":[{"ip":"1.2.3.4",)" + ref + R"(,{"ip":"fd00::1",)" + ref +
                        R"(],"ports":[)" + testport + "]}"));
    CHECK(addresses(world) == Addresses{"1.2.3.4:9000", "[fd00::1]:9000", "1.2.3.4:9001"});
}

TEST_CASE("Role endpoints: a reference without a kind or a name has the labels of each peer") {
    const auto one = [](LabelDialect dialect, const std::string& ref) {
        World world(dialect);
        world.add(Kind::endpoints, endpoints(R"({"addresses":[{"ip":"1.1.1.1","targetRef":)" + ref +
                                             R"(}],"ports":[{"port":1}]})"));
        const LabelMap all = targets(world).at(0);
        return value(all, "~endpoint_address_target_kind") + "/" +
               value(all, "~endpoint_address_target_name");
    };
    CHECK(one(prom, R"({"name":"x"})") == "/x");
    CHECK(one(vm, R"({"name":"x"})") == "/");
    CHECK(one(prom, R"({"kind":"Pod"})") == "Pod/");
    CHECK(one(vm, R"({"kind":"Pod"})") == "Pod/");
}

TEST_CASE(
    "Role endpoints: a pod of another namespace keeps or takes the namespace as each peer does") {
    const std::string eps = endpoints(
        R"({"addresses":[{"ip":"4.3.2.1","targetRef":{"kind":"Pod","name":"p",
            "namespace":"other"}}],"ports":[)" +
        testport + "]}");
    const std::string service = R"({"metadata":{"name":"e","namespace":"default"}})";
    const std::string other = pod(two_containers, R"("podIP":"1.2.3.4")", "other");
    const auto namespaces = [&](LabelDialect dialect, bool with_service,
                                bool by_namespace = false) {
        World world(dialect, {}, by_namespace);
        world.add(Kind::endpoints, eps).add(Kind::pod, other);
        if (with_service) world.add(Kind::service, service);
        Addresses all;
        for (const LabelMap& target : targets(world)) all.push_back(value(target, "~namespace"));
        return all;
    };
    CHECK(namespaces(prom, true) == Addresses{"default", "default"});
    CHECK(namespaces(prom, false) == Addresses{"default", "default"});
    CHECK(namespaces(vm, true) == Addresses{"other", "default"});
    CHECK(namespaces(vm, false) == Addresses{"other", "other"});
    CHECK(namespaces(prom, true, true) == Addresses{"default"});  // one cache for each namespace
    CHECK(namespaces(vm, true, true) == Addresses{"other", "default"});
}

TEST_CASE("Role endpoints: what reaches no label is no change of endpoints, the rest is one") {
    const auto object = [](World& world, const std::string& json) -> const Object& {
        return world.add(Kind::endpoints, json).object(Kind::endpoints, "default", "e");
    };
    World base, same;
    const Object& e = object(base, endpoints(subsets25));
    CHECK(e.same_content(
        object(same, endpoints(subsets25, R"(,"resourceVersion":"2","managedFields":[{}])"))));
    const auto replaced = [](const std::string& from, const std::string& to) {
        std::string text = subsets25;
        return endpoints(text.replace(text.find(from), from.size(), to));
    };
    for (const std::string& other :
         {endpoints(""), endpoints(subsets25, R"(,"labels":{"a":"b"})"),
          replaced("1.2.3.4", "1.2.3.5"), replaced("h1", "h2"), replaced("foobar", "x"),
          replaced("9001", "9003"), replaced("notReadyAddresses", "unknown"),
          replaced("barbaz", "x"), replaced("\"Node\"", "\"Pod\""), replaced("TCP", "UDP"),
          replaced(R"("name":"barbaz")", R"("name":"barbaz","namespace":"x")")}) {
        World world;
        CAPTURE(other);
        CHECK_FALSE(e.same_content(object(world, other)));
    }
}

TEST_CASE("Role endpoints: of a pod with many ports each is found, and each that is left") {
    // The first such port of the last container with one.
    for (const int count : {1, 16, 32, 33, 300}) {
        for (const LabelDialect dialect : dialects) {
            CAPTURE(count);
            const auto port = [](int number, const std::string& name) {
                return R"({"name":")" + name + R"(","containerPort":)" + std::to_string(number) +
                       R"(,"protocol":"TCP"},)";
            };
            std::string ports, covered, twice;
            for (int i = count; i > 0; --i) {
                ports += port(i, "p" + std::to_string(i));
                if (i % 2 == 0) covered += R"({"port":)" + std::to_string(i) + "},";
            }
            twice = port(2, "first") + port(2, "second");
            World world(dialect);
            world.add(Kind::endpoints, backed(covered + R"({"port":2},{"port":70000})"))
                .add(Kind::pod, pod(R"("containers":[{"name":"c","ports":[)" + ports +
                                    R"({"containerPort":1}]},{"name":"d","ports":[)" + twice +
                                    R"({"containerPort":1}]}])"));
            std::size_t others = 0;
            for (const LabelMap& target : targets(world)) {
                const auto at = target.find("__meta_kubernetes_pod_container_port_number");
                const auto name = target.find("__meta_kubernetes_pod_container_port_name");
                const std::string address = target.at("__address__");
                const std::string number = address.substr(address.find(':') + 1);
                if (number == "70000") {
                    CHECK(at == target.end());
                } else if (!target.contains("__meta_kubernetes_endpoint_ready")) {
                    ++others;
                    CHECK(std::stoi(number) % 2 == 1);
                } else {
                    CHECK(at->second == number);
                    CHECK(name->second == (number == "2" ? "first" : "p" + number));
                }
            }
            // Those with an odd number, and the number 1 three times.
            CHECK(others == static_cast<std::size_t>((count + 1) / 2 + 2));
        }
    }
}
