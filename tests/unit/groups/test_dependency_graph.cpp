#include "k8s_sd/detail/groups/dependency_graph.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace k8s_sd;

namespace {

using Key = std::tuple<Kind, std::string, std::string>;

struct Dependent;
using Graph = k8s_sd::detail::DependencyGraph<Dependent>;

struct Dependent {
    Graph::Dependencies& dependencies() {
        ++visited;
        return asked_for;
    }
    Graph::Dependencies asked_for{};
    std::size_t visited = 0;
};

void ask(Graph& graph, Dependent& who, const std::vector<Key>& keys) {
    Graph::Recorded asked;
    for (const auto& [kind, ns, name] : keys) graph.record(kind, ns, name, asked);
    graph.set_dependencies(who, std::move(asked));
}
/// Of an object that something depends on.
std::uint64_t changed_at(Graph& graph, const Key& key) {
    const auto& [kind, ns, name] = key;
    Graph::Recorded asked;
    graph.record(kind, ns, name, asked);
    return asked.front()->changed_at();
}
std::multiset<Dependent*> dependents(const Graph& graph, const Key& key) {
    const auto& [kind, ns, name] = key;
    const auto& found = graph.dependents(kind, ns, name);
    return {found.begin(), found.end()};
}
using Set = std::multiset<Dependent*>;

const Key pod{Kind::pod, "ns", "a"}, other_pod{Kind::pod, "ns", "b"}, node{Kind::node, "", "a"},
    service{Kind::service, "ns", "a"};

}  // namespace

TEST_CASE("DependencyGraph: an object without requests has no dependants") {
    const Graph graph;
    CHECK(graph.empty());
    CHECK(dependents(graph, pod).empty());
}

TEST_CASE("DependencyGraph: objects of other kinds, namespaces and names are other objects") {
    Graph graph;
    Dependent a;
    ask(graph, a, {pod});
    CHECK(dependents(graph, pod) == Set{&a});
    CHECK(dependents(graph, service).empty());
    CHECK(dependents(graph, other_pod).empty());
    CHECK(dependents(graph, {Kind::pod, "", "a"}).empty());
    ask(graph, a, {});
}

TEST_CASE("DependencyGraph: several depend on one object, one depends on several") {
    Graph graph;
    Dependent a, b;
    ask(graph, a, {pod, node});
    ask(graph, b, {node, service});
    CHECK(dependents(graph, pod) == Set{&a});
    CHECK(dependents(graph, node) == Set{&a, &b});
    CHECK(dependents(graph, service) == Set{&b});
}

TEST_CASE("DependencyGraph: what is asked for twice is depended on once") {
    Graph graph;
    Dependent a;
    ask(graph, a, {pod, node, pod, pod});
    CHECK(dependents(graph, pod) == Set{&a});
    CHECK(a.asked_for.size() == 2);
    ask(graph, a, {});
    CHECK(graph.empty());
}

TEST_CASE("DependencyGraph: dependencies change with what is asked for") {
    Graph graph;
    Dependent a, b;
    ask(graph, a, {pod, node});
    ask(graph, b, {pod});
    ask(graph, a, {service, node});
    CHECK(dependents(graph, pod) == Set{&b});
    CHECK(dependents(graph, node) == Set{&a});
    CHECK(dependents(graph, service) == Set{&a});
    ask(graph, a, {service, node});
    CHECK(dependents(graph, service) == Set{&a});
}

TEST_CASE("DependencyGraph: it empties itself when the last dependent goes") {
    Graph graph;
    Dependent a, b;
    ask(graph, a, {pod, node});
    ask(graph, b, {pod, service});
    ask(graph, a, {});
    CHECK_FALSE(graph.empty());
    CHECK(a.asked_for.size() == 0);
    ask(graph, b, {});
    CHECK(graph.empty());
}

TEST_CASE("DependencyGraph: the key of a dependency outlives the strings it was asked with") {
    Graph graph;
    Dependent a;
    Graph::Recorded asked;
    {
        const std::string ns(100, 'n'), name(100, 'a');
        graph.record(Kind::pod, ns, name, asked);
    }
    graph.set_dependencies(a, std::move(asked));
    CHECK(dependents(graph, {Kind::pod, std::string(100, 'n'), std::string(100, 'a')}) == Set{&a});
}

TEST_CASE("DependencyGraph: an object remembers when it changed, as long as somebody asks for it") {
    Graph graph;
    Dependent a, b;
    CHECK(graph.note_change(Kind::pod, "ns", "a").empty());
    CHECK(graph.now() == 0);
    ask(graph, a, {pod, node});
    ask(graph, b, {node});
    CHECK(graph.note_change(Kind::pod, "ns", "a").size() == 1);
    CHECK(graph.note_change(Kind::node, "", "a").size() == 2);
    CHECK(graph.note_change(Kind::service, "ns", "a").empty());
    CHECK(graph.now() == 2);
    CHECK(changed_at(graph, pod) == 1);
    CHECK(changed_at(graph, node) == 2);
    ask(graph, a, {});
    ask(graph, a, {pod});
    CHECK(changed_at(graph, pod) == 0);
    ask(graph, a, {});
    ask(graph, b, {});
}

TEST_CASE("DependencyGraph: lookups by parts stay with equal dependencies, whatever their number") {
    for (const std::vector<Key>& keys : {std::vector<Key>{node}, {node, pod}, {}}) {
        Graph graph;
        Dependent a, b;
        ask(graph, b, {node});
        ask(graph, a, keys);
        CHECK(a.asked_for.of_parts() == nullptr);
        auto lookups = std::make_unique<Graph::PartLookups>();
        const auto* const known = lookups.get();
        a.asked_for.set_of_parts(std::move(lookups));
        CHECK(a.asked_for.size() == keys.size());
        ask(graph, a, keys);
        CHECK(a.asked_for.of_parts() == known);
        CHECK(dependents(graph, node) == (keys.empty() ? Set{&b} : Set{&a, &b}));
        // Its index in the dependents of the node is known in both forms.
        ask(graph, b, {});
        ask(graph, a, {service});
        CHECK(a.asked_for.of_parts() == nullptr);
        CHECK(dependents(graph, node).empty());
        CHECK(dependents(graph, service) == Set{&a});
        a.asked_for.set_of_parts(std::make_unique<Graph::PartLookups>());
        a.asked_for.drop_of_parts();
        CHECK(a.asked_for.of_parts() == nullptr);
        ask(graph, a, {});
        CHECK(graph.empty());
    }
}

TEST_CASE("DependencyGraph: what goes looks at one other dependent, however many there are") {
    Graph graph;
    std::vector<Dependent> who(20'000);
    for (Dependent& dependent : who) ask(graph, dependent, {pod, node});
    const auto visited = [&] {
        std::size_t sum = 0;
        for (Dependent& dependent : who) sum += std::exchange(dependent.visited, 0);
        return sum;
    };
    visited();
    for (Dependent& dependent : who) ask(graph, dependent, {});
    CHECK(visited() <= 3 * who.size());  // itself, and the last one of each object
    CHECK(graph.empty());
}

TEST_CASE("DependencyGraph: without memory a dependent gets all of its new dependencies or none") {
    bool done = false;
    for (long allocations = 0; !done; ++allocations) {
        CAPTURE(allocations);
        Graph graph;
        Dependent first, second, third;
        ask(graph, first, {pod, node});
        ask(graph, second, {pod, node});
        Graph::Recorded asked;
        for (const auto& [kind, ns, name] : {pod, node}) graph.record(kind, ns, name, asked);
        test::allocations_left = allocations;
        try {
            graph.set_dependencies(third, std::move(asked));
            done = true;
        } catch (const std::bad_alloc&) {
        }
        test::allocations_left = -1;
        CHECK(dependents(graph, pod).contains(&third) == done);
        CHECK(dependents(graph, node).contains(&third) == done);
        graph.set_dependencies(third, {});
        CHECK(dependents(graph, pod) == Set{&first, &second});
        CHECK(dependents(graph, node) == Set{&first, &second});
    }
}

TEST_CASE("DependencyGraph: agrees with a map of sets through random changes") {
    std::mt19937 random(5);
    Graph graph;
    std::vector<Dependent> who(6);
    std::map<Key, std::set<Dependent*>> model;
    std::vector<Key> keys;
    for (const Kind kind : {Kind::pod, Kind::node, Kind::job}) {
        for (const char* name : {"a", "b", "c", "d"}) keys.emplace_back(kind, "ns", name);
    }
    for (int round = 0; round < 2000; ++round) {
        Dependent& dependent = who[random() % who.size()];
        std::vector<Key> asked;
        for (auto n = random() % 6; n > 0; --n) asked.push_back(keys[random() % keys.size()]);
        ask(graph, dependent, asked);
        for (const Key& key : keys) model[key].erase(&dependent);
        for (const Key& key : asked) model[key].insert(&dependent);
        bool any = false;
        for (const Key& key : keys) {
            CHECK(dependents(graph, key) == Set(model[key].begin(), model[key].end()));
            any = any || !model[key].empty();
        }
        CHECK(graph.empty() == !any);
    }
}
