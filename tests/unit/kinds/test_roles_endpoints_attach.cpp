#include "support/endpoints_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::test::endpoints_fixture;

TEST_CASE("Role endpoints: Prometheus attaches the node of an address, by name or by reference") {
    World world(prom, {.node = true});
    world.add(Kind::endpoints, endpoints(subsets25));
    const auto plain = targets(world);
    CHECK(world.asked(Kind::node, "", "foobar"));
    CHECK(world.asked(Kind::node, "", "barbaz"));
    world.add(Kind::node, R"({"metadata":{"name":"foobar","labels":{"az":"a"}}})")
        .add(Kind::node, R"({"metadata":{"name":"barbaz","labels":{"az":"b"}}})");
    const auto all = targets(world);
    REQUIRE(all.size() == 4);
    CHECK(all[0] ==
          plain[0] + labels({{"~node_name", "foobar"}}) + family("node_label", {{"az", "a"}}));
    CHECK(all[1] == plain[1]);
    CHECK(all[2] == plain[2]);
    CHECK(all[3] ==
          plain[3] + labels({{"~node_name", "barbaz"}}) + family("node_label", {{"az", "b"}}));
    world.add(Kind::node, R"({"metadata":{"name":"foobar","labels":{"az":"c"}}})");
    CHECK(value(targets(world)[0], "~node_label_az") == "c");
}

TEST_CASE(
    "Role endpoints: the name of the node counts before a reference to one, with Prometheus") {
    const std::string json = endpoints(
        R"({"addresses":[{"ip":"1.1.1.1","nodeName":"n1","targetRef":{"kind":"Node",
            "name":"n2"}}],"ports":[{"port":1}]})");
    World world(prom, {.node = true});
    world.add(Kind::endpoints, json)
        .add(Kind::node, R"({"metadata":{"name":"n1"}})")
        .add(Kind::node, R"({"metadata":{"name":"n2"}})");
    CHECK(value(targets(world).at(0), "~node_name") == "n1");
    CHECK_FALSE(world.asked(Kind::node, "", "n2"));
}

TEST_CASE("Role endpoints: vmagent attaches the node of the pod, also to the pod's other ports") {
    const std::string node = R"({"metadata":{"name":"testnode","labels":{"az":"a"}}})";
    World world(vm, {.node = true});
    world.add(Kind::endpoints, backed(testport)).add(Kind::pod, pod(two_containers));
    for (const LabelMap& target : targets(world)) {
        CHECK(value(target, "~node_name") == "testnode");
        CHECK_FALSE(has_family(target, "~node_label_"));
    }
    world.add(Kind::node, node);
    CHECK(targets(world).size() == 2);
    for (const LabelMap& target : targets(world)) CHECK(value(target, "~node_label_az") == "a");
    World without_pod(vm, {.node = true});
    without_pod.add(Kind::endpoints, endpoints(subsets25))
        .add(Kind::node, R"({"metadata":{"name":"foobar"}})");
    for (const LabelMap& target : targets(without_pod)) CHECK_FALSE(has_family(target, "~node_"));
    World of_prometheus(prom, {.node = true});
    of_prometheus.add(Kind::endpoints, backed(testport))
        .add(Kind::pod, pod(two_containers))
        .add(Kind::node, node);
    for (const LabelMap& target : targets(of_prometheus)) CHECK_FALSE(has_family(target, "~node_"));
}

TEST_CASE("Role endpoints: attach_metadata.namespace is the endpoints' with Prometheus, through "
          "service or pod with vmagent") {
    const std::string ns = R"({"metadata":{"name":"default","labels":{"l":"v"}}})";
    const std::string service = R"({"metadata":{"name":"e","namespace":"default"}})";
    struct Row {
        bool with_service, with_pod;
    };
    for (const LabelDialect dialect : dialects) {
        for (const Row& row : {Row{false, false}, {true, false}, {false, true}, {true, true}}) {
            World world(dialect, {.namespace_ = true});
            world.add(Kind::endpoints, backed(testport)).add(Kind::namespace_, ns);
            if (row.with_service) world.add(Kind::service, service);
            if (row.with_pod) world.add(Kind::pod, pod(two_containers));
            const bool attached = dialect == prom || row.with_service || row.with_pod;
            const auto all = targets(world);
            CHECK(all.size() == (row.with_pod ? 2 : 1));
            for (const LabelMap& target : all)
                CHECK(value(target, "~namespace_label_l") == (attached ? "v" : ""));
            CHECK(world.asked(Kind::namespace_, "", "default") == attached);
        }
    }
}

TEST_CASE("Role endpoints: with vmagent a target has the metadata of the pod's namespace, too, and "
          "another port of the pod prefers that of the service") {
    const std::string json = R"({"metadata":{"name":"e","namespace":"b"},"subsets":[{"addresses":[
        {"ip":"4.3.2.1","targetRef":{"kind":"Pod","name":"p","namespace":"a"}}],"ports":[)" +
                             testport + "]}]}";
    World world(vm, {.namespace_ = true});
    world.add(Kind::endpoints, json)
        .add(Kind::pod, pod(two_containers, R"("podIP":"1.2.3.4")", "a"))
        .add(Kind::namespace_,
             R"({"metadata":{"name":"a","labels":{"l":"A","x-y":"A","only":"A"},
                "annotations":{"l":"A","n":"A"}}})")
        .add(Kind::namespace_,
             R"({"metadata":{"name":"b","labels":{"l":"B","x.y":"B"},"annotations":{"l":"B"}}})");
    const auto namespace_labels = [&](std::size_t index) {
        const auto all = world.targets(Role::endpoints, "b", "e");
        LabelMap found;
        for (const auto& [name, text] : all.at(index)) {
            if (name.starts_with("__meta_kubernetes_namespace")) found.emplace(name, text);
        }
        return found;
    };
    const auto merged = [](const std::string& ns, const std::string& wins) {
        return labels({{"~namespace", ns}}) +
               family("namespace_label", {{"l", wins}, {"x_y", wins}, {"only", "A"}}) +
               family("namespace_annotation", {{"l", wins}, {"n", "A"}});
    };
    const LabelMap of_pod = labels({{"~namespace", "a"}}) +
                            family("namespace_label", {{"l", "A"}, {"x_y", "A"}, {"only", "A"}}) +
                            family("namespace_annotation", {{"l", "A"}, {"n", "A"}});
    CHECK(namespace_labels(0) == of_pod);
    CHECK(namespace_labels(1) == of_pod);
    world.add(Kind::service, R"({"metadata":{"name":"e","namespace":"b"}})");
    CHECK(namespace_labels(0) == merged("a", "A"));
    CHECK(namespace_labels(1) == merged("b", "B"));
    CHECK(world.group(Role::endpoints, "b", "e") != nullptr);
    // Without metadata of one of both namespaces, that of the other one is left.
    world.add(Kind::namespace_, R"({"metadata":{"name":"b"}})");
    CHECK(namespace_labels(1) == merged("b", "A"));
    world.remove(Kind::namespace_, "", "b");
    CHECK(namespace_labels(1) == merged("b", "A"));
    world.remove(Kind::namespace_, "", "a");
    CHECK(namespace_labels(1) == labels({{"~namespace", "b"}}));
}

TEST_CASE(
    "Role endpoints: attach_metadata.deployment, job and cronjob reach every target of a pod") {
    const std::string meta =
        R"({"metadata":{"name":"p","namespace":"default","ownerReferences":[{"kind":")";
    const std::string rest = R"(","name":"o","controller":true}]},"spec":{)" + two_containers +
                             R"(},"status":{"podIP":"1.2.3.4"}})";
    const auto owner = [](const std::string& kind) {
        return R"({"metadata":{"name":"o","namespace":"default","ownerReferences":[{"kind":")" +
               kind + R"(","name":"top","controller":true}]}})";
    };
    for (const LabelDialect dialect : dialects) {
        World world(dialect, {.deployment = true, .job = true, .cronjob = true});
        world.add(Kind::endpoints, backed(testport))
            .add(Kind::replicaset, owner("Deployment"))
            .add(Kind::job, owner("CronJob"));
        world.add(Kind::pod, meta + "ReplicaSet" + rest);
        CHECK(targets(world).size() == 2);
        for (const LabelMap& target : targets(world))
            CHECK(value(target, "~pod_deployment_name") == "top");
        CHECK(world.asked(Kind::replicaset, "default", "o"));
        world.add(Kind::pod, meta + "Job" + rest);
        for (const LabelMap& target : targets(world)) {
            CHECK(value(target, "~pod_job_name") == "o");
            CHECK(value(target, "~pod_cronjob_name") == "top");
            CHECK_FALSE(has_family(target, "~pod_deployment"));
        }
        CHECK(world.asked(Kind::job, "default", "o"));
    }
}
