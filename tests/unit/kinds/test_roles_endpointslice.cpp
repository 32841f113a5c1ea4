#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace roles_endpointslice_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

using Addresses = std::vector<std::string>;

std::string slice(const std::string& endpoints, const std::string& ports,
                  const std::string& meta = "", const std::string& type = "IPv4") {
    return R"({"metadata":{"name":"sl","namespace":"default")" + meta + R"(},"addressType":")" +
           type + R"(","endpoints":[)" + endpoints + R"(],"ports":[)" + ports + "]}";
}
const std::string of_service = R"(,"labels":{"kubernetes.io/service-name":"svc"})";

std::vector<LabelMap> targets(World& world) {
    return world.targets(Role::endpointslice, "default", "sl");
}
Addresses addresses(World& world) { return world.addresses(Role::endpointslice, "default", "sl"); }

const std::string port9000 = R"({"name":"p","port":9000,"protocol":"TCP"})";
std::string backed(const std::string& ports, const std::string& more = "") {
    return slice(
        R"({"addresses":["4.3.2.1"],"targetRef":{"kind":"Pod","name":"p","namespace":"default"}})" +
            more,
        ports);
}
std::string pod(const std::string& spec, const std::string& status = R"("podIP":"1.2.3.4")",
                const std::string& ns = "default") {
    return R"({"metadata":{"name":"p","namespace":")" + ns +
           R"(","uid":"d"},"spec":{"nodeName":"testnode",)" + spec + R"(},"status":{)" + status +
           "}}";
}
const std::string two_containers =
    R"("containers":[{"name":"c1","image":"i1","ports":[{"name":"mainport","containerPort":9000,
        "protocol":"UDP"}]},
    {"name":"c2","image":"i2","ports":[{"name":"sideport","containerPort":9001,
        "protocol":"TCP"}]}])";
const LabelMap pod_labels = labels({{"~pod_name", "p"},
                                    {"~pod_ip", "1.2.3.4"},
                                    {"~pod_ready", "unknown"},
                                    {"~pod_node_name", "testnode"},
                                    {"~pod_uid", "d"}});
const LabelMap group = labels({{"~namespace", "default"},
                               {"~endpointslice_name", "sl"},
                               {"~endpointslice_address_type", "IPv4"}});
const LabelMap port = labels({{"~endpointslice_port", "9000"},
                              {"~endpointslice_port_name", "p"},
                              {"~endpointslice_port_protocol", "TCP"}});
LabelMap conditions(const std::string& ready, const std::string& serving,
                    const std::string& terminating) {
    return labels({{"~endpointslice_endpoint_conditions_ready", ready},
                   {"~endpointslice_endpoint_conditions_serving", serving},
                   {"~endpointslice_endpoint_conditions_terminating", terminating}});
}
LabelMap no_conditions(LabelDialect dialect) {
    return dialect == vm ? conditions("false", "false", "false") : LabelMap();
}

const std::string endpoints35 =
    R"({"addresses":["1.2.3.4"],"conditions":{"ready":true,"serving":true,"terminating":false},
        "hostname":"h","nodeName":"foobar",
      "zone":"z1","deprecatedTopology":{"t":"v"},"targetRef":{}},
    {"addresses":["3.4.5.6"],"conditions":{"ready":false,"serving":true,"terminating":true}},
    {"addresses":["4.5.6.7"],"targetRef":{"kind":"Node","name":"barbaz"}})";
const std::string port35 = R"({"name":"p","port":9000,"protocol":"TCP","appProtocol":"http"})";

}  // namespace

TEST_CASE("Role endpointslice: each address of each port is a target with its conditions") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice, slice(endpoints35, port35, of_service));
        const LabelMap common =
            group + port + labels({{"~endpointslice_port_app_protocol", "http"}}) +
            family("endpointslice_label", {{"kubernetes_io_service_name", "svc"}});
        LabelMap first = common + conditions("true", "true", "false") +
                         labels({{"__address__", "1.2.3.4:9000"},
                                 {"~endpointslice_endpoint_hostname", "h"},
                                 {"~endpointslice_endpoint_node_name", "foobar"}});
        if (dialect == prom) {
            first = first + labels({{"~endpointslice_endpoint_zone", "z1"},
                                    {"~endpointslice_endpoint_topology_t", "v"},
                                    {"~endpointslice_endpoint_topology_present_t", "true"}});
        }
        CHECK(targets(world) ==
              std::vector{first,
                          common + conditions("false", "true", "true") +
                              labels({{"__address__", "3.4.5.6:9000"}}),
                          common + no_conditions(dialect) +
                              labels({{"__address__", "4.5.6.7:9000"},
                                      {"~endpointslice_address_target_kind", "Node"},
                                      {"~endpointslice_address_target_name", "barbaz"}})});
        const auto made = world.group(Role::endpointslice, "default", "sl");
        CHECK(made->source() == "endpointslice/default/sl");
        // Prometheus treats an empty reference as a reference.
        CHECK((*made)[0].get("__meta_kubernetes_endpointslice_address_target_kind").has_value() ==
              (dialect == prom));
        CHECK_FALSE((*made)[1].get("__meta_kubernetes_endpointslice_address_target_kind"));
        CHECK(world.asked() == std::set<World::Key>{{Kind::service, "default", "svc"}});
    }
}

TEST_CASE(
    "Role endpointslice: a port without a number has a bare address, with vmagent the port 0") {
    const std::string containers =
        R"("containers":[{"name":"a","ports":[{"containerPort":80}]},{"name":"b",
            "ports":[{"containerPort":81}]}])";
    const std::string endpoint =
        R"({"addresses":["10.0.0.1"],"targetRef":{"kind":"Pod","name":"p","namespace":"default"}})";
    for (const char* unnumbered : {"{}", R"({"port":null})"}) {
        for (const LabelDialect dialect : dialects) {
            World world(dialect);
            world.add(Kind::endpointslice, slice(endpoint, unnumbered))
                .add(Kind::pod, pod(containers));
            const auto all = targets(world);
            REQUIRE(all.size() == 3);
            CHECK(value(all[0], "__address__") == (dialect == prom ? "10.0.0.1" : "10.0.0.1:0"));
            CHECK(value(all[0], "~endpointslice_port") == (dialect == prom ? "" : "0"));
            CHECK(value(all[0], "~pod_name") == "p");
            CHECK_FALSE(has_family(all[0], "~pod_container_"));
            CHECK(value(all[1], "__address__") == "1.2.3.4:80");
            CHECK(value(all[2], "__address__") == "1.2.3.4:81");
        }
    }
}

TEST_CASE("Role endpointslice: without ports or endpoints there is no target") {
    for (const LabelDialect dialect : dialects) {
        for (const std::string& json :
             {slice(endpoints35, ""), slice("", port9000), slice("{}", port9000),
              slice(R"({"addresses":[]})", port9000)}) {
            World world(dialect);
            CHECK(
                world.add(Kind::endpointslice, json).group(Role::endpointslice, "default", "sl") ==
                nullptr);
        }
    }
}

TEST_CASE("Role endpointslice: the service that the slice's label names gives its labels") {
    const std::string service =
        R"({"metadata":{"name":"svc","namespace":"default","labels":{"l":"v"}},
            "spec":{"type":"ClusterIP","clusterIP":"1.1.1.1"}})";
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice, slice(R"({"addresses":["1.1.1.1"]})", port9000, of_service));
        const LabelMap plain = targets(world).at(0);
        CHECK_FALSE(has_family(plain, "~service_"));
        CHECK(world.asked(Kind::service, "default", "svc"));
        world.add(Kind::service, service);
        CHECK(targets(world).at(0) ==
              plain + labels({{"~service_name", "svc"}}) + family("service_label", {{"l", "v"}}) +
                  (dialect == vm ? labels({{"~service_type", "ClusterIP"},
                                           {"~service_cluster_ip", "1.1.1.1"}})
                                 : LabelMap()));
        world.add(Kind::endpointslice, slice(R"({"addresses":["1.1.1.1"]})", port9000));
        CHECK(targets(world).at(0) ==
              group + port + no_conditions(dialect) + labels({{"__address__", "1.1.1.1:9000"}}));
        CHECK(world.asked().empty());
    }
}

TEST_CASE("Role endpointslice: a slice of another namespace's service of that name takes no labels "
          "from it") {
    World world;
    world.add(Kind::endpointslice, slice(R"({"addresses":["1.1.1.1"]})", port9000, of_service));
    world.add(Kind::service, R"({"metadata":{"name":"svc","namespace":"other"}})");
    CHECK_FALSE(has_family(targets(world).at(0), "~service_"));
}

TEST_CASE("Role endpointslice: slices of both families of a dual-stack service have targets") {
    for (const LabelDialect dialect : dialects) {
        for (const char* policy :
             {R"("ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv4","IPv6"])",
              R"("ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv6","IPv4"])",
              R"("ipFamilyPolicy":"SingleStack","ipFamilies":["IPv6"])", R"("type":"ClusterIP")"}) {
            World world(dialect);
            world.add(Kind::service,
                      R"({"metadata":{"name":"svc","namespace":"default"},"spec":{)" +
                          std::string(policy) + "}}");
            world.add(Kind::endpointslice,
                      slice(R"({"addresses":["1.2.3.4"]})", port9000, of_service));
            CHECK(addresses(world) == Addresses{"1.2.3.4:9000"});
            world.add(Kind::endpointslice,
                      slice(R"({"addresses":["fd00::1"]})", port9000, of_service, "IPv6"));
            CHECK(addresses(world) == Addresses{"[fd00::1]:9000"});
            CHECK(value(targets(world).at(0), "~endpointslice_address_type") == "IPv6");
        }
    }
}

TEST_CASE("Role endpointslice: addresses come port by port") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice,
                  slice(R"({"addresses":["1.1.1.1","2.2.2.2"]},{"addresses":["3.3.3.3"]})",
                        R"({"port":1},{"port":2})"));
        CHECK(addresses(world) == Addresses{"1.1.1.1:1", "2.2.2.2:1", "1.1.1.1:2", "2.2.2.2:2",
                                            "3.3.3.3:1", "3.3.3.3:2"});
    }
}

TEST_CASE(
    "Role endpointslice: a pod gives its labels, the matching container and its other ports") {
    const LabelMap reference = labels({{"~endpointslice_address_target_kind", "Pod"},
                                       {"~endpointslice_address_target_name", "p"}});
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice, backed(port9000)).add(Kind::pod, pod(two_containers));
        // Unlike in role endpoints the protocol is the container's.
        const LabelMap first = labels({{"~pod_container_name", "c1"},
                                       {"~pod_container_image", "i1"},
                                       {"~pod_container_init", "false"},
                                       {"~pod_container_port_name", "mainport"},
                                       {"~pod_container_port_number", "9000"},
                                       {"~pod_container_port_protocol", "UDP"}});
        const LabelMap second = labels({{"~pod_container_name", "c2"},
                                        {"~pod_container_image", "i2"},
                                        {"~pod_container_init", "false"},
                                        {"~pod_container_port_name", "sideport"},
                                        {"~pod_container_port_number", "9001"},
                                        {"~pod_container_port_protocol", "TCP"}});
        CHECK(targets(world) ==
              std::vector{group + port + no_conditions(dialect) + reference + pod_labels + first +
                              labels({{"__address__", "4.3.2.1:9000"}}),
                          group + (dialect == vm ? reference : LabelMap()) + pod_labels + second +
                              labels({{"__address__", "1.2.3.4:9001"}})});
    }
}

TEST_CASE("Role endpointslice: a change of the pod reaches the target") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice, backed(port9000));
        CHECK_FALSE(has_family(targets(world).at(0), "~pod_"));
        CHECK(world.asked(Kind::pod, "default", "p"));
        world.add(Kind::pod, pod(two_containers, R"("podIP":"1.2.3.4","phase":"Pending")"));
        CHECK(value(targets(world).at(0), "~pod_phase") == "Pending");
        world.add(Kind::pod, pod(two_containers, R"("podIP":"1.2.3.4","phase":"Running")"));
        CHECK(value(targets(world).at(0), "~pod_phase") == "Running");
        world.remove(Kind::pod, "default", "p");
        CHECK(targets(world).size() == 1);
        CHECK_FALSE(has_family(targets(world).at(0), "~pod_"));
    }
}

TEST_CASE("Role endpointslice: any init container can match a port, only sidecars have other ports "
          "with vmagent") {
    const std::string containers =
        R"("containers":[{"name":"c"}],"initContainers":[{"name":"setup",
            "ports":[{"containerPort":9000}]},
        {"name":"setup2","ports":[{"containerPort":1}]},{"name":"side","restartPolicy":"Always",
            "ports":[{"containerPort":2}]}])";
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::endpointslice, backed(port9000)).add(Kind::pod, pod(containers));
        CHECK(value(targets(world).at(0), "~pod_container_name") == "setup");
        const Addresses expected = dialect == prom
                                       ? Addresses{"4.3.2.1:9000", "1.2.3.4:1", "1.2.3.4:2"}
                                       : Addresses{"4.3.2.1:9000", "1.2.3.4:2"};
        CHECK(addresses(world) == expected);
    }
}

TEST_CASE("Role endpointslice: one address and two pods without ports behind three ports are seven "
          "targets") {
    World world(vm);
    world.add(Kind::endpointslice,
              R"({"metadata":{"name":"a","namespace":"default"},"addressType":"IPv4",
            "endpoints":[{"addresses":["172.18.0.2"]}],"ports":[{"name":"https","port":6443,
            "protocol":"TCP"}]})");
    world.add(Kind::endpointslice,
              slice(
                  R"({"addresses":["10.244.0.3"],"targetRef":{"kind":"Pod","name":"p",
            "namespace":"default"}},
        {"addresses":["10.244.0.4"],"targetRef":{"kind":"Pod","name":"q","namespace":"default"}})",
                  R"({"name":"dns-tcp","port":53},{"name":"metrics","port":9153},{"name":"dns",
            "port":53,"protocol":"UDP"})",
                  of_service));
    world.add(Kind::pod, pod(R"("containers":[{"name":"c"}])", R"("podIP":"10.244.0.3")"));
    world.add(
        Kind::pod,
        R"({"metadata":{"name":"q","namespace":"default"},"spec":{"containers":[{"name":"c"}]},
            "status":{"podIP":"10.244.0.4"}})");
    CHECK(world.targets(Role::endpointslice, "default", "a").size() == 1);
    CHECK(targets(world).size() == 6);
    world.add(Kind::service, R"({"metadata":{"name":"svc","namespace":"default"}})");
    CHECK(targets(world).size() == 6);
    for (const LabelMap& target : targets(world)) CHECK(value(target, "~service_name") == "svc");
}

TEST_CASE("Role endpointslice: conditions that are not set are left out by Prometheus and false "
          "for vmagent") {
    for (const char* none : {R"({"addresses":["1"]})", R"({"addresses":["1"],"conditions":{}})",
                             R"({"addresses":["1"],"conditions":{"ready":null}})"}) {
        for (const LabelDialect dialect : dialects) {
            World world(dialect);
            world.add(Kind::endpointslice, slice(none, port9000));
            CHECK(targets(world).at(0) ==
                  group + port + no_conditions(dialect) + labels({{"__address__", "1:9000"}}));
        }
    }
    World world;
    world.add(Kind::endpointslice,
              slice(
                  R"({"addresses":["1"],"conditions":{"ready":false,"serving":false,
            "terminating":true}})",
                  port9000));
    CHECK(targets(world).at(0) == group + port + conditions("false", "false", "true") +
                                      labels({{"__address__", "1:9000"}}));
}

TEST_CASE(
    "Role endpointslice: a reference to a node counts before the name of one, with Prometheus") {
    World world(prom, {.node = true});
    world.add(
        Kind::endpointslice,
        slice(
            R"({"addresses":["1.1.1.1"],"nodeName":"n1","targetRef":{"kind":"Node","name":"n2"}},
            {"addresses":["2.2.2.2"],"nodeName":"n1"},
        {"addresses":["3.3.3.3"]})",
            port9000));
    world.add(Kind::node, R"({"metadata":{"name":"n1"}})")
        .add(Kind::node, R"({"metadata":{"name":"n2","labels":{"l":"v"}}})");
    const auto all = targets(world);
    REQUIRE(all.size() == 3);
    CHECK(value(all[0], "~node_name") == "n2");
    CHECK(value(all[0], "~node_label_l") == "v");
    CHECK(value(all[1], "~node_name") == "n1");
    CHECK_FALSE(has_family(all[2], "~node_"));
}

TEST_CASE(
    "Role endpointslice: vmagent attaches the node of the pod, also to the pod's other ports") {
    World world(vm, {.node = true});
    world
        .add(Kind::endpointslice,
             backed(port9000, R"(,{"addresses":["5.5.5.5"],"nodeName":"testnode"})"))
        .add(Kind::pod, pod(two_containers));
    world.add(Kind::node, R"({"metadata":{"name":"testnode","labels":{"l":"v"}}})");
    const auto all = targets(world);
    REQUIRE(all.size() == 3);
    CHECK(value(all[0], "~node_label_l") == "v");
    CHECK_FALSE(has_family(all[1], "~node_"));
    CHECK(value(all[2], "__address__") == "1.2.3.4:9001");
    CHECK(value(all[2], "~node_label_l") == "v");
}

TEST_CASE("Role endpointslice: attach_metadata.namespace is the slice's with Prometheus, through "
          "service or pod with vmagent") {
    struct Row {
        bool with_service, with_pod;
    };
    for (const LabelDialect dialect : dialects) {
        for (const Row& row : {Row{false, false}, {true, false}, {false, true}, {true, true}}) {
            World world(dialect, {.namespace_ = true});
            world.add(Kind::endpointslice,
                      slice(
                          R"({"addresses":["4.3.2.1"],"targetRef":{"kind":"Pod","name":"p",
            "namespace":"default"}})",
                          port9000, of_service));
            world.add(Kind::namespace_, R"({"metadata":{"name":"default","labels":{"l":"v"}}})");
            if (row.with_service)
                world.add(Kind::service, R"({"metadata":{"name":"svc","namespace":"default"}})");
            if (row.with_pod) world.add(Kind::pod, pod(two_containers));
            const bool attached = dialect == prom || row.with_service || row.with_pod;
            for (const LabelMap& target : targets(world))
                CHECK(value(target, "~namespace_label_l") == (attached ? "v" : ""));
        }
    }
}

TEST_CASE(
    "Role endpointslice: attach_metadata.deployment, job and cronjob reach every target of a pod") {
    const auto owned = [](const std::string& kind) {
        return R"({"metadata":{"name":"p","namespace":"default","ownerReferences":[{"kind":")" +
               kind + R"(","name":"o","controller":true}]},"spec":{)" + two_containers +
               R"(},"status":{"podIP":"1.2.3.4"}})";
    };
    const auto owner = [](const std::string& kind) {
        return R"({"metadata":{"name":"o","namespace":"default","ownerReferences":[{"kind":")" +
               kind + R"(","name":"top","controller":true}]}})";
    };
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.deployment = true, .job = true, .cronjob = true});
        world.add(Kind::endpointslice, backed(port9000))
            .add(Kind::replicaset, owner("Deployment"))
            .add(Kind::job, owner("CronJob"));
        world.add(Kind::pod, owned("ReplicaSet"));
        CHECK(targets(world).size() == 2);
        for (const LabelMap& target : targets(world))
            CHECK(value(target, "~pod_deployment_name") == "top");
        world.add(Kind::pod, owned("Job"));
        for (const LabelMap& target : targets(world)) {
            CHECK(value(target, "~pod_job_name") == "o");
            CHECK(value(target, "~pod_cronjob_name") == "top");
        }
    }
}

TEST_CASE(
    "Role endpointslice: with namespaces by name Prometheus finds no pod of another namespace") {
    const std::string json = slice(
        R"({"addresses":["4.3.2.1"],"targetRef":{"kind":"Pod","name":"p","namespace":"other"}})",
        port9000);
    const auto count = [&](LabelDialect dialect, bool by_namespace) {
        World world(dialect, {}, by_namespace);
        world.add(Kind::endpointslice, json)
            .add(Kind::pod, pod(two_containers, R"("podIP":"1.2.3.4")", "other"));
        return targets(world).size();
    };
    CHECK(count(prom, false) == 2);
    CHECK(count(prom, true) == 1);
    CHECK(count(vm, false) == 2);
    CHECK(count(vm, true) == 2);
}

TEST_CASE(
    "Role endpointslice: topology of v1 is Prometheus' only, that of v1beta1 is everybody's") {
    const auto has_topology = [](LabelDialect dialect, const std::string& members) {
        World world(dialect);
        world.add(Kind::endpointslice,
                  slice(R"({"addresses":["1"],"hints":{"forZones":[{"name":"z"}]})" + members + "}",
                        port9000));
        const auto target = targets(world).at(0);
        const bool has = has_family(target, "~endpointslice_endpoint_topology");
        if (has) CHECK(value(target, "~endpointslice_endpoint_topology_a") == "b");
        return has;
    };
    const std::string v1 = R"(,"deprecatedTopology":{"a":"b"})";
    const std::string v1beta1 = R"(,"topology":{"a":"b"})";
    CHECK(has_topology(prom, v1));
    CHECK_FALSE(has_topology(vm, v1));
    CHECK(has_topology(prom, v1beta1));
    CHECK(has_topology(vm, v1beta1));
    CHECK_FALSE(has_topology(prom, ""));
    CHECK_FALSE(has_topology(vm, ""));
}

TEST_CASE("Role endpointslice: what reaches no label is no change of a slice, the rest is one") {
    const auto object = [](World& world, const std::string& json) -> const Object& {
        return world.add(Kind::endpointslice, json).object(Kind::endpointslice, "default", "sl");
    };
    World base, same;
    const Object& s = object(base, slice(endpoints35, port35, of_service));
    CHECK(s.same_content(
        object(same, slice(endpoints35, port35, of_service + R"(,"generation":7)"))));
    const auto replaced = [](const std::string& from, const std::string& to) {
        std::string text = endpoints35;
        return slice(text.replace(text.find(from), from.size(), to), port35, of_service);
    };
    for (const std::string& other :
         {slice(endpoints35, port9000, of_service), slice(endpoints35, port35),
          slice(endpoints35, port35, of_service, "IPv6"), slice("", port35, of_service),
          slice(endpoints35, "", of_service), replaced("1.2.3.4", "1.2.3.5"),
          replaced("true", "false"), replaced("\"h\"", "\"i\""), replaced("foobar", "x"),
          replaced("z1", "z2"), replaced("\"t\":\"v\"", "\"t\":\"w\""), replaced("barbaz", "x"),
          replaced(R"("1.2.3.4")", R"("1.2.3.4","1.2.3.4")")}) {
        World world;
        CAPTURE(other);
        CHECK_FALSE(s.same_content(object(world, other)));
    }
}

}  // namespace roles_endpointslice_tests
