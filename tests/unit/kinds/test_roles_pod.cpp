#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace roles_pod_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

using Addresses = std::vector<std::string>;

std::string pod(const std::string& meta, const std::string& spec, const std::string& status) {
    return R"({"metadata":{"name":"p","namespace":"default","uid":"u1")" + meta + R"(},"spec":{)" +
           spec + R"(},"status":{)" + status + "}}";
}
std::vector<LabelMap> targets(const std::string& json, LabelDialect dialect = prom) {
    return World(dialect).add(Kind::pod, json).targets(Role::pod, "default", "p");
}
Addresses addresses(const std::string& json, LabelDialect dialect = prom) {
    return World(dialect).add(Kind::pod, json).addresses(Role::pod, "default", "p");
}
/// A pod with one container c without ports.
std::string simple(const std::string& status, const std::string& meta = "",
                   const std::string& spec = "") {
    return pod(meta, R"("containers":[{"name":"c"}])" + spec, status);
}
std::string running(const std::string& more = "") {
    return R"("podIP":"1.2.3.4","phase":"Running")" + more;
}

const std::string meta6 = R"(,"labels":{"test/label":"v"},"annotations":{"test/annotation":"w"},
    "ownerReferences":[{"kind":"ReplicaSet","name":"rs1","controller":true}])";
const std::string containers6 = R"("nodeName":"n1","containers":[
    {"name":"c0","image":"i0","ports":[{"name":"http","containerPort":9000,"protocol":"TCP"},
        {"containerPort":9001,"protocol":"UDP"}]},
    {"name":"c1","image":"i1"}])";
const std::string status6 = R"("podIP":"1.2.3.4","hostIP":"2.3.4.5","phase":"Running",
    "conditions":[{"type":"Initialized","status":"False"},{"type":"Ready","status":"True"}],
    "containerStatuses":[{"name":"c0","containerID":"docker://aa"}])";

const LabelMap group6 = labels({{"~namespace", "default"},
                                {"~pod_name", "p"},
                                {"~pod_ip", "1.2.3.4"},
                                {"~pod_host_ip", "2.3.4.5"},
                                {"~pod_node_name", "n1"},
                                {"~pod_ready", "true"},
                                {"~pod_phase", "Running"},
                                {"~pod_uid", "u1"},
                                {"~pod_controller_kind", "ReplicaSet"},
                                {"~pod_controller_name", "rs1"}}) +
                        family("pod_label", {{"test_label", "v"}}) +
                        family("pod_annotation", {{"test_annotation", "w"}});
const std::vector<LabelMap> targets6{group6 + labels({{"__address__", "1.2.3.4:9000"},
                                                      {"~pod_container_name", "c0"},
                                                      {"~pod_container_image", "i0"},
                                                      {"~pod_container_id", "docker://aa"},
                                                      {"~pod_container_init", "false"},
                                                      {"~pod_container_port_name", "http"},
                                                      {"~pod_container_port_number", "9000"},
                                                      {"~pod_container_port_protocol", "TCP"}}),
                                     group6 + labels({{"__address__", "1.2.3.4:9001"},
                                                      {"~pod_container_name", "c0"},
                                                      {"~pod_container_image", "i0"},
                                                      {"~pod_container_id", "docker://aa"},
                                                      {"~pod_container_init", "false"},
                                                      {"~pod_container_port_number", "9001"},
                                                      {"~pod_container_port_protocol", "UDP"}}),
                                     group6 + labels({{"__address__", "1.2.3.4"},
                                                      {"~pod_container_name", "c1"},
                                                      {"~pod_container_image", "i1"},
                                                      {"~pod_container_init", "false"}})};

}  // namespace

TEST_CASE("Role pod: each container port is a target, a container without ports is one") {
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(pod(meta6, containers6, status6), dialect) == targets6);
    }
    World world;
    const auto group =
        world.add(Kind::pod, pod(meta6, containers6, status6)).group(Role::pod, "default", "p");
    CHECK(group->source() == "pod/default/p");
    CHECK(group->labels().to_map() == group6);
    CHECK((*group)[1].get("__meta_kubernetes_pod_container_port_name") == "");
    CHECK_FALSE((*group)[2].get("__meta_kubernetes_pod_container_port_name"));
    CHECK((*group)[2].get("__meta_kubernetes_pod_container_id") == "");
}

TEST_CASE("Role pod: init containers follow the regular ones with IDs of their own") {
    const std::string init =
        R"(,"initContainers":[{"name":"init0"},{"name":"side0","restartPolicy":"Always",
        "ports":[{"name":"metrics","containerPort":9102,"protocol":"TCP"}]}])";
    const std::string status =
        R"("podIP":"1.2.3.4","phase":"Pending","conditions":[{"type":"Ready","status":"False"}],
        "containerStatuses":[{"name":"c0","containerID":"docker://aa"},{"name":"init0",
            "containerID":"wrong"}],
        "initContainerStatuses":[{"name":"init0","containerID":"containerd://bb"},{"name":"side0",
            "containerID":"containerd://cc"},
                                 {"name":"c1","containerID":"wrong"}])";
    for (const LabelDialect dialect : dialects) {
        const auto all = targets(pod(meta6, containers6 + init, status), dialect);
        REQUIRE(all.size() == 5);
        CHECK(value(all[0], "~pod_container_id") == "docker://aa");
        CHECK(value(all[2], "~pod_container_id") == "");
        CHECK(value(all[3], "__address__") == "1.2.3.4");
        CHECK(value(all[3], "~pod_container_name") == "init0");
        CHECK(value(all[3], "~pod_container_id") == "containerd://bb");
        CHECK(value(all[3], "~pod_container_init") == "true");
        CHECK(value(all[4], "__address__") == "1.2.3.4:9102");
        CHECK(value(all[4], "~pod_container_name") == "side0");
        CHECK(value(all[4], "~pod_container_id") == "containerd://cc");
        CHECK(value(all[4], "~pod_container_init") == "true");
        CHECK(value(all[4], "~pod_container_port_name") == "metrics");
        for (const LabelMap& target : all) {
            CHECK(value(target, "~pod_phase") == "Pending");
            CHECK(value(target, "~pod_ready") == "false");
        }
    }
}

TEST_CASE("Role pod: a pod without an address is no target") {
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(pod(meta6, containers6, R"("podIP":"","phase":"Running")"), dialect).empty());
        CHECK(targets(pod(meta6, containers6, R"("phase":"Running","podIPs":[{"ip":"1.2.3.4"}])"),
                      dialect)
                  .empty());
        CHECK(targets(pod(meta6, "", running()), dialect).empty());
    }
}

TEST_CASE("Role pod: readiness is unknown without its condition") {
    for (const LabelDialect dialect : dialects) {
        const auto all = targets(simple(R"("podIP":"1.2.3.4")"), dialect);
        REQUIRE(all.size() == 1);
        CHECK(value(all[0], "~pod_ready") == "unknown");
        CHECK(value(all[0], "~pod_phase") == "");
        for (const auto& [status, ready] :
             std::vector<std::pair<std::string, std::string>>{{"True", "true"},
                                                              {"False", "false"},
                                                              {"Unknown", "unknown"},
                                                              {"TRUE", "true"},
                                                              {"Odd-1", "odd-1"}}) {
            const auto one = targets(
                simple(running(R"(,"conditions":[{"type":"Ready","status":")" + status + "\"}]")),
                dialect);
            CHECK(value(one.at(0), "~pod_ready") == ready);
        }
    }
}

TEST_CASE(
    "Role pod: an IPv6 address is put in brackets before a port, without one by vmagent only") {
    const std::string json =
        pod("", R"("containers":[{"name":"a","ports":[{"containerPort":80}]},{"name":"b"}])",
            R"("podIP":"fd00::5")");
    CHECK(addresses(json, prom) == Addresses{"[fd00::5]:80", "fd00::5"});
    CHECK(addresses(json, vm) == Addresses{"[fd00::5]:80", "[fd00::5]"});
}

TEST_CASE("Role pod: the controller is the owner that says so") {
    for (const LabelDialect dialect : dialects) {
        const auto none =
            targets(simple(running(),
                           R"(,"ownerReferences":[{"kind":"A","name":"a"},{"kind":"B","name":"b",
            "controller":false}])"),
                    dialect);
        CHECK_FALSE(has_family(none.at(0), "~pod_controller"));
        const auto second =
            targets(simple(running(),
                           R"(,"ownerReferences":[{"kind":"A","name":"a"},{"kind":"B","name":"b",
            "controller":true}])"),
                    dialect);
        CHECK(value(second.at(0), "~pod_controller_kind") == "B");
        CHECK(value(second.at(0), "~pod_controller_name") == "b");
    }
}

TEST_CASE("Role pod: attach_metadata.deployment follows the ReplicaSet to its Deployment") {
    const std::string p = simple(
        running(), R"(,"ownerReferences":[{"kind":"ReplicaSet","name":"rs1","controller":true}])");
    const auto set = [](const std::string& kind, const std::string& ns = "default") {
        return R"({"metadata":{"name":"rs1","namespace":")" + ns +
               R"(","ownerReferences":[{"kind":")" + kind + R"(","name":"d","controller":true}]}})";
    };
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.deployment = true});
        world.add(Kind::pod, p);
        const auto deployment = [&] {
            return value(world.targets(Role::pod, "default", "p").at(0), "~pod_deployment_name");
        };
        CHECK(deployment() == "");
        CHECK(world.asked(Kind::replicaset, "default", "rs1"));
        world.add(Kind::replicaset, set("Deployment", "other"));
        CHECK(deployment() == "");
        world.add(Kind::replicaset, set("Deployment"));
        CHECK(deployment() == "d");
        world.add(Kind::replicaset, set("Rollout"));
        CHECK(deployment() == "");
        world.add(Kind::replicaset,
                  R"({"metadata":{"name":"rs1","namespace":"default",
            "ownerReferences":[{"kind":"Deployment","name":"d"}]}})");
        CHECK(deployment() == "");
        World without(dialect);
        CHECK(value(without.add(Kind::pod, p)
                        .add(Kind::replicaset, set("Deployment"))
                        .targets(Role::pod, "default", "p")
                        .at(0),
                    "~pod_deployment_name") == "");
        CHECK(without.asked().empty());
    }
}

TEST_CASE(
    "Role pod: attach_metadata.deployment asks for nothing where no ReplicaSet controls the pod") {
    World world(prom, {.deployment = true, .job = true, .cronjob = true});
    world.add(
        Kind::pod,
        simple(running(),
               R"(,"ownerReferences":[{"kind":"StatefulSet","name":"s","controller":true}])"));
    const auto all = world.targets(Role::pod, "default", "p");
    CHECK(all.size() == 1);
    CHECK_FALSE(has_family(all[0], "~pod_deployment"));
    CHECK_FALSE(has_family(all[0], "~pod_job"));
    CHECK(world.asked().empty());
}

TEST_CASE("Role pod: attach_metadata.job names the Job and attach_metadata.cronjob its CronJob") {
    const std::string p =
        simple(running(), R"(,"ownerReferences":[{"kind":"Job","name":"j","controller":true}])");
    const std::string job =
        R"({"metadata":{"name":"j","namespace":"default","ownerReferences":[{"kind":"CronJob",
            "name":"cj","controller":true}]}})";
    struct Row {
        bool job, cronjob;
    };
    for (const LabelDialect dialect : dialects) {
        for (const Row& row : {Row{false, false}, {true, false}, {false, true}, {true, true}}) {
            World world(dialect, {.job = row.job, .cronjob = row.cronjob});
            const auto all =
                world.add(Kind::pod, p).add(Kind::job, job).targets(Role::pod, "default", "p");
            CHECK(value(all.at(0), "~pod_job_name") == (row.job ? "j" : ""));
            CHECK(value(all.at(0), "~pod_cronjob_name") == (row.cronjob ? "cj" : ""));
            CHECK(value(all.at(0), "~pod_controller_kind") == "Job");
            CHECK(value(all.at(0), "~pod_controller_name") == "j");
            CHECK(world.asked(Kind::job, "default", "j") == row.cronjob);
        }
        World by_hand(dialect, {.job = true, .cronjob = true});
        const auto all = by_hand.add(Kind::pod, p)
                             .add(Kind::job, R"({"metadata":{"name":"j","namespace":"default"}})")
                             .targets(Role::pod, "default", "p");
        CHECK(value(all.at(0), "~pod_job_name") == "j");
        CHECK_FALSE(has_family(all.at(0), "~pod_cronjob"));
    }
}

TEST_CASE("PodObject: every label of the pod is at its position") {
    using detail::PodObject;
    World world;
    world.add(Kind::pod, pod(meta6, containers6, status6));
    const auto& object = static_cast<const PodObject&>(world.object(Kind::pod, "default", "p"));
    const auto label = [&](PodObject::Position position) {
        return std::string(object.content().info().shape().entries()[position].name) + "=" +
               std::string(object.content().info().value(position));
    };
    const std::string prefix = "__meta_kubernetes_pod_";
    CHECK(label(PodObject::name_position) == prefix + "name=p");
    CHECK(label(PodObject::ip_position) == prefix + "ip=1.2.3.4");
    CHECK(label(PodObject::node_name_position) == prefix + "node_name=n1");
    CHECK(label(PodObject::host_ip_position) == prefix + "host_ip=2.3.4.5");
    CHECK(label(PodObject::phase_position) == prefix + "phase=Running");
    CHECK(label(PodObject::ready_position) == prefix + "ready=true");
    CHECK(label(PodObject::uid_position) == prefix + "uid=u1");
    CHECK(label(PodObject::controller_kind_position) == prefix + "controller_kind=ReplicaSet");
    CHECK(label(PodObject::controller_name_position) == prefix + "controller_name=rs1");
}

TEST_CASE("PodObject: every label of a container's port is at its position") {
    using detail::PodPort;
    World world;
    world.add(Kind::pod, pod(meta6, containers6, status6));
    const auto& object =
        static_cast<const detail::PodObject&>(world.object(Kind::pod, "default", "p"));
    const detail::LabelBlock& labels = *object.content().ports().front().labels;
    const auto label = [&](PodPort::Position position) {
        return std::string(labels.shape().entries()[position].name) + "=" +
               std::string(labels.value(position));
    };
    const std::string prefix = "__meta_kubernetes_pod_container_";
    CHECK(label(PodPort::name_position) == prefix + "name=c0");
    CHECK(label(PodPort::image_position) == prefix + "image=i0");
    CHECK(label(PodPort::init_position) == prefix + "init=false");
    CHECK(label(PodPort::protocol_position) == prefix + "port_protocol=TCP");
    CHECK(label(PodPort::port_name_position) == prefix + "port_name=http");
    CHECK(label(PodPort::port_number_position) == prefix + "port_number=9000");
}

TEST_CASE("WorkloadLink: labels of a Job are no change, its controller is") {
    World a, b, c;
    a.add(Kind::job,
          R"({"metadata":{"name":"j","namespace":"n","uid":"u","labels":{"a":"1"},
            "ownerReferences":[{"kind":"CronJob","name":"x","controller":true}]}})");
    b.add(Kind::job,
          R"({"metadata":{"name":"j","namespace":"n","uid":"u","labels":{"a":"2"},
            "ownerReferences":[{"kind":"CronJob","name":"x","controller":true}]},
            "status":{"active":1}})");
    c.add(Kind::job, R"({"metadata":{"name":"j","namespace":"n","uid":"u"}})");
    CHECK(a.object(Kind::job, "n", "j").same_content(b.object(Kind::job, "n", "j")));
    CHECK_FALSE(a.object(Kind::job, "n", "j").same_content(c.object(Kind::job, "n", "j")));
    CHECK(a.object(Kind::job, "n", "j").metadata_labels().empty());
}

TEST_CASE("Role pod: attach_metadata.node adds the node's name, labels and annotations") {
    const std::string p = simple(running(), "", R"(,"nodeName":"n1")");
    const std::string node =
        R"({"metadata":{"name":"n1","labels":{"l1":"v1"},"annotations":{"a1":"w1"}},
            "spec":{"providerID":"x"},
        "status":{"addresses":[{"type":"InternalIP","address":"9.9.9.9"}]}})";
    const LabelMap attached = labels({{"~node_name", "n1"}}) +
                              family("node_label", {{"l1", "v1"}}) +
                              family("node_annotation", {{"a1", "w1"}});
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.node = true});
        const LabelMap plain =
            World(dialect).add(Kind::pod, p).targets(Role::pod, "default", "p").at(0);
        world.add(Kind::pod, p).add(Kind::node, node);
        CHECK(world.targets(Role::pod, "default", "p").at(0) == plain + attached);
        CHECK(world.asked(Kind::node, "", "n1"));
        world.remove(Kind::node, "", "n1");
        const LabelMap unknown = dialect == vm ? labels({{"~node_name", "n1"}}) : LabelMap();
        CHECK(world.targets(Role::pod, "default", "p").at(0) == plain + unknown);
        CHECK(world.asked(Kind::node, "", "n1"));
    }
}

TEST_CASE("Role pod: attach_metadata.node keeps a pod that is on no node, without node labels") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.node = true});
        const auto all = world.add(Kind::pod, simple(running())).targets(Role::pod, "default", "p");
        REQUIRE(all.size() == 1);
        CHECK_FALSE(has_family(all[0], "~node_"));
    }
}

TEST_CASE("Role pod: attach_metadata.namespace adds the namespace's metadata") {
    const std::string ns =
        R"({"metadata":{"name":"default","labels":{"app":"web"},"annotations":{"build":"v1"}}})";
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.namespace_ = true});
        world.add(Kind::pod, simple(running()));
        const LabelMap plain = world.targets(Role::pod, "default", "p").at(0);
        CHECK_FALSE(has_family(plain, "~namespace_"));
        CHECK(world.asked(Kind::namespace_, "", "default"));
        world.add(Kind::namespace_, ns);
        CHECK(world.targets(Role::pod, "default", "p").at(0) ==
              plain + family("namespace_label", {{"app", "web"}}) +
                  family("namespace_annotation", {{"build", "v1"}}));
        CHECK(value(plain, "~namespace") == "default");
    }
}

TEST_CASE("Role pod: finished pods stay targets with Prometheus and are none with vmagent") {
    for (const char* phase : {"Succeeded", "Failed"}) {
        const std::string json =
            simple(R"("podIP":"1.2.3.4","phase":")" + std::string(phase) + "\"");
        CHECK(targets(json, prom).size() == 1);
        CHECK(targets(json, vm).empty());
    }
    for (const char* phase : {"Pending", "Running", "Unknown", "", "Odd"}) {
        const std::string json =
            simple(R"("podIP":"1.2.3.4","phase":")" + std::string(phase) + "\"");
        for (const LabelDialect dialect : dialects) CHECK(targets(json, dialect).size() == 1);
    }
    const std::string deleted = simple(running(), R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
    for (const LabelDialect dialect : dialects) CHECK(targets(deleted, dialect).size() == 1);
}

TEST_CASE("Role pod: of keys that become one label the greatest wins") {
    for (const LabelDialect dialect : dialects) {
        for (const char* keys : {R"({"a-b":"1","a.b":"2"})", R"({"a.b":"2","a-b":"1"})"}) {
            const auto all =
                targets(simple(running(), R"(,"labels":)" + std::string(keys)), dialect);
            CHECK(value(all.at(0), "~pod_label_a_b") == "2");
        }
    }
}

TEST_CASE(
    "Role pod: terminated containers stay targets with Prometheus and are none with vmagent") {
    const std::string json =
        pod("",
            R"("containers":[{"name":"old","ports":[{"containerPort":4321}]},{"name":"new",
            "ports":[{"containerPort":1234}]}],
        "initContainers":[{"name":"setup","ports":[{"containerPort":1}]},{"name":"side",
            "ports":[{"containerPort":2}]}])",
            running(
                R"(,"containerStatuses":[{"name":"old","state":{"terminated":{"exitCode":0}}},
            {"name":"new","state":{"running":{}}}],
        "initContainerStatuses":[{"name":"setup","state":{"terminated":{}}}])"));
    CHECK(addresses(json, prom) ==
          Addresses{"1.2.3.4:4321", "1.2.3.4:1234", "1.2.3.4:1", "1.2.3.4:2"});
    CHECK(addresses(json, vm) == Addresses{"1.2.3.4:1234", "1.2.3.4:2"});
}

TEST_CASE("Role pod: a pod of which all containers have terminated has no target with vmagent") {
    const std::string json =
        simple(running(R"(,"containerStatuses":[{"name":"c","state":{"terminated":{}}}])"));
    CHECK(targets(json, prom).size() == 1);
    World world(vm);
    CHECK(world.add(Kind::pod, json).group(Role::pod, "default", "p") == nullptr);
}

TEST_CASE("Role pod: sidecars count like containers") {
    const std::string json =
        pod("", R"("containers":[{"name":"a","ports":[{"containerPort":1},{"containerPort":2}]},
        {"name":"b","ports":[{"containerPort":3},{"containerPort":4}]}],
        "initContainers":[{"name":"s","restartPolicy":"Always","ports":[{"containerPort":5}]}])",
            running(R"(,"initContainerStatuses":[{"name":"s","containerID":"containerd://s"}])"));
    for (const LabelDialect dialect : dialects) {
        const auto all = targets(json, dialect);
        REQUIRE(all.size() == 5);
        CHECK(value(all[4], "~pod_container_init") == "true");
        CHECK(value(all[4], "~pod_container_id") == "containerd://s");
    }
}

TEST_CASE("Role pod: what reaches no label is no change of a pod, the rest is one") {
    const auto object = [](World& world, const std::string& json) -> const Object& {
        return world.add(Kind::pod, json).object(Kind::pod, "default", "p");
    };
    World base, same;
    const Object& p = object(base, pod(meta6, containers6, status6));
    const std::string noise =
        R"(,"startTime":"x","qosClass":"y","ephemeralContainerStatuses":[{"name":"c0"}])";
    CHECK(p.same_content(
        object(same, pod(meta6 + R"(,"resourceVersion":"9","generation":4,"managedFields":[{}])",
                         containers6 + R"(,"volumes":[{"name":"v"}])", status6 + noise))));
    CHECK(p.same_uid(same.object(Kind::pod, "default", "p")));
    const std::string ready_off =
        R"("podIP":"1.2.3.4","hostIP":"2.3.4.5","phase":"Running",
            "containerStatuses":[{"name":"c0","containerID":"docker://aa"}])";
    for (const std::string& other :
         {pod(meta6, containers6, ready_off), pod("", containers6, status6),
          pod(meta6, R"("nodeName":"n1")", status6),
          pod(meta6, containers6 + R"(,"initContainers":[{"name":"i"}])", status6),
          pod(meta6, containers6,
              status6 + R"(,"containerStatuses":[{"name":"c1","containerID":"x"}])"),
          pod(meta6, containers6,
              status6 + R"(,"containerStatuses":[{"name":"c1","state":{"terminated":{}}}])"),
          pod(meta6, containers6, status6 + R"(,"podIP":"1.2.3.5")"),
          pod(meta6, containers6, status6 + R"(,"phase":"Failed")")}) {
        World world;
        CAPTURE(other);
        CHECK_FALSE(p.same_content(object(world, other)));
    }
}

TEST_CASE("Role pod: many containers have their own statuses, of several the first one") {
    for (const int count : {1, 15, 16, 17, 200}) {
        CAPTURE(count);
        std::string containers, statuses;
        for (int i = 0; i < count; ++i) {
            const std::string number = std::to_string(i);
            containers += (i ? ",{" : "{") + (R"("name":"c)" + number) + "\"}";
            statuses = R"({"name":"c)" + number + R"(","containerID":"id)" + number + "\"}," +
                       statuses + R"({"name":"c)" + number +
                       R"(","containerID":"last","state":{"terminated":{}}},)";
        }
        const std::string json =
            pod("", "\"containers\":[" + containers + "]",
                running(",\"containerStatuses\":[" + statuses + R"({"name":"other"}])"));
        for (const LabelDialect dialect : dialects) {
            const auto all = targets(json, dialect);
            REQUIRE(all.size() == static_cast<std::size_t>(count));
            for (int i = 0; i < count; ++i) {
                const LabelMap& target = all[static_cast<std::size_t>(i)];
                CHECK(value(target, "~pod_container_name") == "c" + std::to_string(i));
                CHECK(value(target, "~pod_container_id") == "id" + std::to_string(i));
            }
        }
    }
}

}  // namespace roles_pod_tests
