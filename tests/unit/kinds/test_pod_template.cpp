// What pods of one controller share, and what belongs to one pod alone.

#include "k8s_sd/detail/kinds/pod.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace pod_template_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A pod with one text in its container and some ports.
std::string pod_with(const std::string& name, const std::string& image, unsigned ports) {
    sim::PodBuilder pod("default", name);
    pod.uid(name).ip("10.0.0.1").phase("Running").container("c", image);
    for (unsigned i = 0; i < ports; ++i) {
        pod.port("p" + std::to_string(i), static_cast<unsigned short>(1000 + i));
    }
    return serialize(boost::json::object(pod));
}

std::string running(const std::string& name, const std::string& container_status = "",
                    const std::string& ns = "default") {
    return R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"(","uid":")" + name +
           R"("},"spec":{"containers":[
        {"name":"c","image":"i","ports":[{"name":"http","containerPort":80,"protocol":"TCP"}]}]},
        "status":{"phase":"Running","podIP":"10.0.0.1","containerStatuses":[
        {"name":"c","containerID":"docker://)" +
           name + '"' + container_status + "}]}}";
}

const detail::PodContent& content(const World& world, const std::string& name,
                                  const std::string& ns = "default") {
    return static_cast<const detail::PodObject&>(world.object(Kind::pod, ns, name)).content();
}

struct ExpectedTarget {
    std::string container, address, id;
    bool operator==(const ExpectedTarget&) const = default;
};

/// Adds random containers, with or without ports.
void add_containers(sim::PodBuilder& pod, std::mt19937& random, const std::string& name,
                    std::vector<ExpectedTarget>& expected) {
    const std::size_t count = random() % 5;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string container = name + std::to_string(i);
        const std::string id = random() % 3 == 0 ? "" : "cri://" + std::string(random() % 90, 'x');
        pod.container(container, "image");
        const std::size_t ports = random() % 4;
        for (std::size_t port = 0; port < ports; ++port) {
            const auto number = static_cast<unsigned short>(1000 + 10 * i + port);
            pod.port("p" + std::to_string(port), number);
            expected.push_back({container, "10.0.0.1:" + std::to_string(number), id});
        }
        if (ports == 0) expected.push_back({container, "10.0.0.1", id});
        if (!id.empty()) pod.container_id(id);
    }
}

}  // namespace

TEST_CASE("PodTemplate: pods with equal ports share them, whatever their own labels") {
    World world;
    world.add(Kind::pod, running("a")).add(Kind::pod, running("b"));
    CHECK(content(world, "a").ports().data() == content(world, "b").ports().data());
    CHECK_FALSE(content(world, "a") == content(world, "b"));
    const auto targets = world.targets(Role::pod, "default", "b");
    REQUIRE(targets.size() == 1);
    CHECK(value(targets[0], "~pod_container_id") == "docker://b");
}

TEST_CASE("PodTemplate: pods of other namespaces or states of containers share nothing") {
    World world;
    world.add(Kind::pod, running("a"))
        .add(Kind::pod, running("b", R"(,"state":{"terminated":{"exitCode":0}})"))
        .add(Kind::pod, running("a", "", "other"));
    const auto* const ports = content(world, "a").ports().data();
    CHECK(content(world, "b").ports().data() != ports);
    CHECK(content(world, "a", "other").ports().data() != ports);
    CHECK(content(world, "b").ports().front().terminated);
    CHECK_FALSE(content(world, "a").ports().front().terminated);
}

TEST_CASE("PodTemplate: large labels or many ports of a pod are released with it") {
    World world;
    world.add(Kind::pod, pod_with("a", std::string(10000, 'i'), 2));
    const detail::LabelBlockPtr large = content(world, "a").ports().front().labels;
    world.add(Kind::pod, pod_with("a", "i", 2000));
    CHECK(large->use_count() == 1);
    const detail::LabelBlockPtr of_many = content(world, "a").ports().back().labels;
    world.add(Kind::pod, pod_with("a", "i", 2));
    CHECK(of_many->use_count() <= 2);  // here, and in the cache of blocks
}

TEST_CASE("PodObject: ports with one shared block count towards the limit of the object, too") {
    api::Container container;
    container.name = "c";
    container.ports.resize(2000);
    api::Pod pod;
    pod.metadata.name = "p";
    pod.spec.containers.push_back(container);
    detail::ObjectFactory factory;
    const auto make = [&] { detail::PodObject(pod, detail::RoleOptions(), factory); };
    factory.begin_object();
    CHECK_NOTHROW(make());
    factory.begin_object();
    factory.block().add("a", std::string(detail::LabelFactory::max_bytes - 16'384, 'x')).make();
    CHECK_THROWS_AS(make(), detail::LabelLimitReached);
}

TEST_CASE("PodTemplate: pods from two factories are equal without sharing") {
    World one, other;
    one.add(Kind::pod, running("a"));
    other.add(Kind::pod, running("a"));
    CHECK(content(one, "a").ports().data() != content(other, "a").ports().data());
    CHECK(content(one, "a") == content(other, "a"));
}

TEST_CASE("PodTemplate: each port has the ID of its container, in random pods") {
    std::mt19937 random(3);
    World world;
    for (int round = 0; round < 200; ++round) {
        const std::string name = "p" + std::to_string(round);
        sim::PodBuilder pod("default", name);
        pod.uid("u").ip("10.0.0.1").phase("Running");
        std::vector<ExpectedTarget> expected;
        add_containers(pod, random, "c", expected);
        world.add(Kind::pod, serialize(boost::json::object(pod)));
        std::vector<ExpectedTarget> found;
        for (const LabelMap& target : world.targets(Role::pod, "default", name)) {
            found.push_back({value(target, "~pod_container_name"), target.at("__address__"),
                             value(target, "~pod_container_id")});
        }
        CHECK(found == expected);
    }
}

}  // namespace pod_template_tests
