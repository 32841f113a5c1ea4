#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

constexpr AttachMetadata attach_everything{
    .node = true, .namespace_ = true, .deployment = true, .job = true, .cronjob = true};

/// A service with two pods on two nodes, and the controllers of the pods.
struct Cluster : Simulation {
    Cluster() {
        server.apply(namespace_object("default", {{"team", "one"}}));
        server.apply(node("n1", {{"zone", "a"}}));
        server.apply(node("n2", {{"zone", "b"}}));
        server.apply(service("web", {{"app", "web"}}));
        server.apply(replica_set("web-1", "web"));
        server.apply(job("nightly-1", "nightly"));
        server.apply(pod_one());
        server.apply(pod_two());
        server.apply(slice("web-x", "web", {{"10.0.0.1", "p1", "n1"}, {"10.0.0.2", "p2", "n2"}}));
        server.apply(slice("other", "none", {{"10.0.9.9", "", "n3"}}));
        server.apply(endpoints("web", {{"10.0.0.1", "p1", "n1"}, {"10.0.0.2", "p2", "n2"}}));
        server.apply(ingress("front", "shop.example"));
    }
    static boost::json::object pod_one(const Strings& labels = {{"v", "1"}}) {
        return with_controller(
            pod({.name = "p1", .ip = "10.0.0.1", .node = "n1", .labels = labels}), "ReplicaSet",
            "web-1");
    }
    static boost::json::object pod_two(const Strings& labels = {{"v", "1"}}) {
        return with_controller(
            pod({.name = "p2", .ip = "10.0.0.2", .node = "n2", .labels = labels}), "Job",
            "nightly-1");
    }
    DiscoveryConfig config(Role role, const AttachMetadata& attach = {}) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        config.attach_metadata = attach;
        return config;
    }
    std::uint64_t take_generated() {
        const std::uint64_t now = metrics->groups_generated;
        return now - std::exchange(generated_, now);
    }

 private:
    std::uint64_t generated_ = 0;
};

std::string plural(Kind kind) { return std::string(to_string(kind)); }

/// Records its notifications.
struct Recorder final : GroupWatcher::Observer {
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& complete) override {
        received += "ready ";
        state = complete;
    }
    void on_changes(const std::vector<GroupChange>& changes) override {
        received += "changes" + std::to_string(changes.size()) + " ";
        newest = changes;
    }
    std::string take() { return std::exchange(received, {}); }

    std::string received;
    std::shared_ptr<const TargetGroupDiff> state;
    std::vector<GroupChange> newest;
};

}  // namespace

TEST_CASE("GroupWatcher: the first state waits for everything that the role needs") {
    const Role role = GENERATE(Role::node, Role::pod, Role::service, Role::endpoints,
                               Role::endpointslice, Role::ingress);
    const bool attach = GENERATE(false, true);
    const auto needed = detail::needed_kinds(role, attach ? attach_everything : AttachMetadata{});
    CAPTURE(to_string(role), attach);
    for (const Kind missing : needed) {
        CAPTURE(to_string(missing));
        Cluster c;
        c.server.deny(to_string(missing));
        Host host(c.context.get_executor(),
                  c.config(role, attach ? attach_everything : AttachMetadata{}));
        host.run();
        c.advance(60s);
        CHECK(host.diffs == 0);
        const DiscovererStatus status = host.discoverer->status();
        CHECK_FALSE(status.synced);
        CHECK(status.error == errc::forbidden);
        CHECK(contains(status.message, "missing is the permission to list " + plural(missing)));
        CHECK(status.watches.size() == needed.size());

        c.server.allow(to_string(missing));
        c.advance(60s);
        CHECK(host.diffs == 1);
        CHECK_FALSE(host.groups.empty());
        CHECK(host.discoverer->status().synced);
        CHECK_FALSE(host.discoverer->status().error);
        CHECK(host.complaints.empty());
    }
}

TEST_CASE("GroupWatcher: an error of one kind takes nothing away") {
    const Role role = GENERATE(Role::pod, Role::endpoints, Role::endpointslice, Role::ingress);
    for (const Kind failing : detail::needed_kinds(role, attach_everything)) {
        CAPTURE(to_string(role), to_string(failing));
        Cluster c;
        Host host(c.context.get_executor(), c.config(role, attach_everything));
        host.run();
        c.advance(2s);
        REQUIRE(host.diffs == 1);
        const TargetsBySource before = host.state();
        c.server.deny(to_string(failing));
        c.server.disconnect_all();
        c.advance(300s);
        CHECK(host.diffs == 1);
        CHECK(host.discoverer->status().error == errc::forbidden);
        CHECK(host.discoverer->status().synced);
        c.server.compact();  // and the next list is identical
        c.server.allow(to_string(failing));
        c.advance(60s);
        CHECK(host.diffs == 1);
        CHECK(host.state() == before);
        CHECK_FALSE(host.discoverer->status().error);
    }
}

TEST_CASE("GroupWatcher: other objects reach the targets at once, and those only") {
    Cluster c;
    Host host(c.context.get_executor(), c.config(Role::endpointslice, attach_everything));
    host.run();
    c.settle();
    const std::string web = "endpointslice/default/web-x";
    REQUIRE(host.groups.size() == 2);
    const auto label = [&](const std::string& name) { return host.label(web, name); };
    CHECK(label("__meta_kubernetes_pod_deployment_name") == "web");
    CHECK(label("__meta_kubernetes_node_label_zone") == "a");
    CHECK(label("__meta_kubernetes_namespace_label_team") == "one");
    CHECK(label("__meta_kubernetes_service_label_app") == "web");
    host.take_diffs();
    c.take_generated();

    SECTION("a label of a pod") {
        c.server.apply(Cluster::pod_one({{"v", "2"}}));
        c.settle();
        CHECK(label("__meta_kubernetes_pod_label_v") == "2");
    }
    SECTION("a pod that goes, and comes back") {
        c.server.remove("pods", "default", "p1");
        c.settle();
        CHECK(label("__meta_kubernetes_pod_name").empty());
        CHECK(host.take_diffs() == "[~" + web + "]");
        CHECK(c.take_generated() == 1);
        c.server.apply(Cluster::pod_one());
        c.settle();
        CHECK(label("__meta_kubernetes_pod_name") == "p1");
    }
    SECTION("a label of a node") {
        c.server.apply(node("n1", {{"zone", "c"}}));
        c.settle();
        CHECK(label("__meta_kubernetes_node_label_zone") == "c");
    }
    SECTION("a node that goes") {
        c.server.remove("nodes", "", "n1");
        c.settle();
        CHECK(label("__meta_kubernetes_node_label_zone").empty());
    }
    SECTION("the service") {
        c.server.apply(service("web", {{"app", "shop"}}));
        c.settle();
        CHECK(label("__meta_kubernetes_service_label_app") == "shop");
    }
    SECTION("a service that goes") {
        c.server.remove("services", "default", "web");
        c.settle();
        CHECK(label("__meta_kubernetes_service_name").empty());
    }
    SECTION("the owner of a ReplicaSet") {
        c.server.apply(replica_set("web-1", "renamed"));
        c.settle();
        CHECK(label("__meta_kubernetes_pod_deployment_name") == "renamed");
    }
    SECTION("a ReplicaSet that goes") {
        c.server.remove("replicasets", "default", "web-1");
        c.settle();
        CHECK(label("__meta_kubernetes_pod_deployment_name").empty());
    }
    SECTION("a Job that goes") {
        c.server.remove("jobs", "default", "nightly-1");
        c.settle();
        CHECK(host.groups.at(web)->merged(1).contains("__meta_kubernetes_pod_job_name"));
        CHECK_FALSE(host.groups.at(web)->merged(1).contains("__meta_kubernetes_pod_cronjob_name"));
    }
    CHECK(host.take_diffs() == "[~" + web + "]");
    CHECK(c.take_generated() == 1);

    // A change of a namespace affects all of its groups.
    c.server.apply(namespace_object("default", {{"team", "two"}}));
    c.settle();
    CHECK(host.take_diffs() == "[~endpointslice/default/other ~" + web + "]");
    CHECK(c.take_generated() == 2);
    // Unreferenced objects affect no group.
    c.server.apply(pod({.name = "stranger"}));
    c.server.apply(node("n9"));
    c.server.apply(service("unrelated"));
    c.settle();
    CHECK(host.take_diffs().empty());
    CHECK(c.take_generated() == 0);
    CHECK(host.complaints.empty());
}

TEST_CASE("GroupWatcher: objects that appear later reach the groups that missed them") {
    Simulation sim;
    sim.server.apply(slice("web-x", "web", {{"10.0.0.1", "p1", "n1"}}));
    DiscoveryConfig config{.watch = plain_lists()};
    config.role = Role::endpointslice;
    config.api_server.url = sim.server.url();
    config.attach_metadata = attach_everything;
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.settle();
    const std::string source = "endpointslice/default/web-x";
    const auto appears = [&](const boost::json::object& object, const std::string& label) {
        CHECK(host.label(source, label).empty());
        sim.server.apply(object);
        sim.settle();
        CHECK_FALSE(host.label(source, label).empty());
    };
    appears(node("n1", {{"zone", "a"}}), "__meta_kubernetes_node_label_zone");
    appears(namespace_object("default", {{"team", "x"}}), "__meta_kubernetes_namespace_label_team");
    appears(service("web"), "__meta_kubernetes_service_name");
    appears(with_controller(pod({.name = "p1"}), "ReplicaSet", "web-1"),
            "__meta_kubernetes_pod_name");
    appears(replica_set("web-1", "web"), "__meta_kubernetes_pod_deployment_name");
    CHECK(host.diffs == 6);
    CHECK(host.complaints.empty());
}

TEST_CASE("GroupWatcher: what reaches no label causes nothing") {
    Cluster c;
    std::vector<std::unique_ptr<Host>> hosts;
    for (const Role role : {Role::node, Role::pod, Role::service, Role::endpoints,
                            Role::endpointslice, Role::ingress}) {
        hosts.push_back(
            std::make_unique<Host>(c.context.get_executor(), c.config(role, attach_everything)));
        hosts.back()->run();
    }
    c.settle();
    c.take_generated();
    for (int i = 0; i < 10; ++i) {
        c.server.apply(node("n1", {{"zone", "a"}}, std::to_string(i)));
        auto pod = Cluster::pod_one();
        pod["status"].as_object()["startTime"] = std::to_string(i);
        c.server.apply(pod);
        c.settle();
    }
    CHECK(c.metrics->of(Kind::node).events == 10);
    CHECK(c.metrics->of(Kind::pod).events == 10);
    CHECK(c.take_generated() == 0);
    for (const auto& host : hosts) CHECK(host->diffs == 1);
}

TEST_CASE("GroupWatcher: each role follows its main objects") {
    Cluster c;
    const auto check = [&](Role role, const boost::json::object& object,
                           const std::string& resource, const std::string& ns,
                           const std::string& name, const std::string& source) {
        CAPTURE(to_string(role));
        Host host(c.context.get_executor(), c.config(role));
        host.run();
        c.settle();
        host.take_diffs();
        c.server.apply(object);
        c.settle();
        CHECK(host.take_diffs() == "[~" + source + "]");
        c.server.remove(resource, ns, name);
        c.settle();
        CHECK(host.take_diffs() == "[-" + source + "]");
        CHECK(host.complaints.empty());
    };
    check(Role::node, node("new"), "nodes", "", "new", "node/new");
    check(Role::pod, pod({.name = "new"}), "pods", "default", "new", "pod/default/new");
    check(Role::service, service("new"), "services", "default", "new", "svc/default/new");
    check(Role::endpoints, endpoints("new", {{"10.1.1.1"}}), "endpoints", "default", "new",
          "endpoints/default/new");
    check(Role::endpointslice, slice("new", "s", {{"10.1.1.1"}}), "endpointslices", "default",
          "new", "endpointslice/default/new");
    check(Role::ingress, ingress("new", "h"), "ingresses", "default", "new", "ingress/default/new");
}

TEST_CASE("GroupWatcher: a group without targets is none") {
    Cluster c;
    Host host(c.context.get_executor(), c.config(Role::pod));
    host.run();
    c.settle();
    host.take_diffs();
    c.server.apply(pod({.name = "new", .ip = ""}));
    c.settle();
    CHECK(host.take_diffs().empty());
    c.server.apply(pod({.name = "new", .ip = "10.0.0.7"}));
    c.settle();
    CHECK(host.take_diffs() == "[~pod/default/new]");
    c.server.apply(pod({.name = "new", .ip = ""}));
    c.settle();
    CHECK(host.take_diffs() == "[-pod/default/new]");
    c.server.remove("pods", "default", "new");
    c.settle();
    CHECK(host.take_diffs().empty());
    CHECK(host.complaints.empty());
}

TEST_CASE("GroupWatcher: an object that was replaced says so") {
    Cluster c;
    c.server.apply(slice("s", "web", {{"10.3.3.3"}}));
    Host host(c.context.get_executor(), c.config(Role::endpointslice));
    bool replaced = false;
    std::size_t kept = 0;
    host.after_diff = [&](const TargetGroupDiff& diff) {
        for (const GroupChange& change : diff.updated) {
            replaced = change.replaced;
            kept = change.targets().kept.size();
        }
    };
    host.run();
    c.settle();
    SECTION("with both events in one turn") {
        c.server.remove("endpointslices", "default", "s");
        c.server.apply(slice("s", "web", {{"10.3.3.3"}}));
        c.settle();
    }
    SECTION("while it was not watching") {
        c.server.accept_connections(false);
        c.server.disconnect_all();
        c.settle();
        c.server.remove("endpointslices", "default", "s");
        c.server.apply(slice("s", "web", {{"10.3.3.3"}}));
        c.server.compact();
        c.server.accept_connections(true);
        c.advance(5s);
    }
    CHECK(replaced);
    CHECK(kept == 0);
    CHECK(host.diffs == 2);
}

TEST_CASE("GroupWatcher: more groups than are made in one handler are all made") {
    Cluster c;
    for (int i = 0; i < 2500; ++i) {
        c.server.apply(pod({.name = "x" + std::to_string(i), .ip = "10.0.0.3", .node = "n1"}));
    }
    Host host(c.context.get_executor(), c.config(Role::pod, {.node = true}));
    host.run();
    c.settle();
    CHECK(host.diffs == 1);
    CHECK(host.groups.size() == 2502);
    c.take_generated();
    c.server.apply(node("n1", {{"zone", "new"}}));
    c.settle();
    CHECK(c.take_generated() == 2501);  // all but p2, on another node
    for (const auto& [source, group] : host.groups) {
        if (source == "pod/default/p2") continue;
        REQUIRE(group->merged(0).at("__meta_kubernetes_node_label_zone") == "new");
    }
    CHECK(host.complaints.empty());
}

TEST_CASE("GroupWatcher: a view has its first state before those of most others are made") {
    Cluster c;
    constexpr int views = 5, pods = 1050;  // more groups than are made in one turn
    std::vector<std::unique_ptr<Host>> hosts;
    bool delivered = false;
    for (int view = 0; view < views; ++view) {
        const std::string team = "t" + std::to_string(view);
        for (int i = 0; i < pods; ++i) {
            c.server.apply(pod({.name = team + "-" + std::to_string(i),
                                .ip = "10.0.0.3",
                                .labels = {{"team", team}}}));
        }
        DiscoveryConfig config = c.config(Role::pod);
        config.selectors = {{.role = Role::pod, .label = "team=" + team}};
        hosts.push_back(std::make_unique<Host>(c.context.get_executor(), config));
        hosts.back()->after_diff = [&](const TargetGroupDiff&) {
            // Handlers run while a delivery is on its way.
            if (!std::exchange(delivered, true)) CHECK(c.take_generated() < 4 * pods);
        };
        hosts.back()->run();
    }
    c.settle();
    CHECK(delivered);
    for (const auto& host : hosts) {
        CHECK(host->diffs == 1);
        CHECK(host->groups.size() == pods);
        CHECK(host->complaints.empty());
    }
}

TEST_CASE("GroupWatcher: configured namespaces are watched one by one") {
    Simulation sim;
    for (const char* ns : {"a", "b", "c"}) sim.server.apply(pod({.name = "p", .ns = ns}));
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    config.namespaces = {"b", "a"};
    config.attach_metadata.node = true;
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.settle();
    CHECK(host.groups.size() == 2);
    const auto requests = sim.take_requests();
    CHECK(requests.size() == 6);
    for (const char* path :
         {"/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods", "/api/v1/nodes"}) {
        CHECK(std::count_if(requests.begin(), requests.end(), [&](const auto& request) {
                  return request.find(path) != std::string::npos;
              }) == 2);
    }
    // Without permission in one namespace, the pods of the other one wait for it.
    CHECK(host.discoverer->status().watches.size() == 3);
}

TEST_CASE("GroupWatcher: the status counts objects and failures as they are now") {
    Cluster c;
    Host host(c.context.get_executor(), c.config(Role::pod));
    host.run();
    c.advance(2s);
    REQUIRE(host.discoverer->status().watches.size() == 1);
    CHECK(host.discoverer->status().watches[0].objects == 2);
    c.server.apply(pod({.name = "new"}));
    c.settle();
    CHECK(host.discoverer->status().watches[0].objects == 3);
    c.server.deny("pods");
    c.server.disconnect_all();
    c.advance(20s);
    CHECK(host.discoverer->status().watches[0].failures >= 3);
    CHECK(host.discoverer->status().watches[0].objects == 3);
}

TEST_CASE("GroupWatcher: a role that comes later gets what is there already") {
    Cluster c;
    Host slices(c.context.get_executor(), c.config(Role::endpointslice));
    slices.run();
    c.settle();
    c.take_requests();
    Host pods(c.context.get_executor(), c.config(Role::pod));
    pods.run();
    c.settle();
    CHECK(c.take_requests().empty());  // it has the pods already
    CHECK(pods.diffs == 1);
    CHECK(pods.groups.size() == 2);
    slices.discoverer.reset();
    c.settle();
    CHECK(c.server.open_watches() == 1);
    c.server.remove("pods", "default", "p1");
    c.settle();
    CHECK(pods.groups.size() == 1);
}

// --- observers -----------------------------------------------------------------------------------

TEST_CASE(
    "GroupWatcher: an observer receives the complete state, then the changes of each invocation") {
    Cluster c;
    const auto watcher =
        GroupWatcher::acquire(c.context.get_executor(), resolve(c.config(Role::pod)));
    const auto first = std::make_shared<Recorder>();
    const auto second = std::make_shared<Recorder>();
    const auto subscription = watcher->subscribe(Role::pod, first);
    const auto other = watcher->subscribe(Role::pod, second);
    CHECK(first->received.empty());  // nothing from within subscribe()
    c.settle();
    CHECK(first->take() == "ready ");
    REQUIRE(first->state);
    CHECK(first->state->full);
    CHECK(first->state->updated.size() == 2);
    CHECK(first->state == second->state);  // one for all of them

    c.server.apply(Cluster::pod_one({{"v", "2"}}));
    c.server.remove("pods", "default", "p2");
    c.settle();
    CHECK(contains(first->received, "changes"));
    CHECK_FALSE(contains(first->take(), "ready"));
    c.server.apply(pod({.name = "p3"}));
    c.settle();
    CHECK(first->take() == "changes1 ");
    REQUIRE(first->newest.size() == 1);
    CHECK(first->newest[0].group->source() == "pod/default/p3");
    CHECK(first->newest[0].previous == nullptr);
}

TEST_CASE("GroupWatcher: a later observer receives the state of that time") {
    Cluster c;
    const auto watcher =
        GroupWatcher::acquire(c.context.get_executor(), resolve(c.config(Role::pod)));
    const auto early = std::make_shared<Recorder>();
    const auto subscription = watcher->subscribe(Role::pod, early);
    c.settle();
    c.server.remove("pods", "default", "p2");
    c.settle();
    early->take();
    const auto late = std::make_shared<Recorder>();
    auto late_subscription = watcher->subscribe(Role::pod, late);
    c.settle();
    CHECK(late->take() == "ready ");
    CHECK(late->state->updated.size() == 1);
    CHECK(early->take().empty());

    late_subscription.reset();
    CHECK(late_subscription.status().empty());
    CHECK(subscription.status().size() == 1);
    c.settle();
    c.server.remove("pods", "default", "p1");
    c.settle();
    CHECK(early->take() == "changes1 ");
    CHECK(late->take().empty());
}

TEST_CASE("GroupWatcher: views of one scope are distinguished, equal ones share a watcher") {
    Cluster c;
    const auto executor = c.context.get_executor();
    const ResolvedConfig config = resolve(c.config(Role::pod));
    const auto watcher = GroupWatcher::acquire(executor, config);
    CHECK(GroupWatcher::acquire(executor, config) == watcher);
    ResolvedConfig other = config;
    SECTION("the dialect") { other.view.dialect = LabelDialect::victoriametrics; }
    SECTION("the version") { other.view.prometheus_version = PrometheusVersion::v3_12; }
    SECTION("attached metadata") { other.view.attach_metadata.node = true; }
    CHECK(GroupWatcher::acquire(executor, other) != watcher);
}

namespace {

/// Throws from each call while `throws` is set.
struct Thrower final : GroupWatcher::Observer {
    void on_ready(const std::shared_ptr<const TargetGroupDiff>&) override { call(); }
    void on_changes(const std::vector<GroupChange>&) override { call(); }
    void on_status() override { call(); }
    void call() const {
        if (throws) throw std::runtime_error("from an observer");
    }
    bool throws = true;
};

/// \returns the number of exceptions that have left the context
int advance_through(Cluster& c) {
    for (int exceptions = 0;; ++exceptions) {
        REQUIRE(exceptions < 100);
        try {
            c.advance(1s);
            return exceptions;
        } catch (const std::runtime_error&) {
        }
    }
}

}  // namespace

TEST_CASE("GroupWatcher: an exception of an observer keeps no other one from its calls") {
    Cluster c;
    const auto executor = c.context.get_executor();
    const auto thrower = std::make_shared<Thrower>();
    const auto beside = std::make_shared<Recorder>(), role = std::make_shared<Recorder>(),
               view = std::make_shared<Recorder>();
    const auto watcher = GroupWatcher::acquire(executor, resolve(c.config(Role::pod)));
    const auto attaching =
        GroupWatcher::acquire(executor, resolve(c.config(Role::pod, {.namespace_ = true})));
    // The thrower is called before the others: in its role, in its watcher, and of its kind.
    const auto first = watcher->subscribe(Role::pod, thrower);
    const auto second = watcher->subscribe(Role::pod, beside);
    const auto third = watcher->subscribe(Role::endpointslice, role);
    const auto fourth = attaching->subscribe(Role::pod, view);
    CHECK(advance_through(c) > 0);
    CHECK(beside->take() == "ready ");
    CHECK(role->take() == "ready ");
    CHECK(view->take() == "ready ");

    c.server.apply(c.pod_one({{"v", "2"}}));
    CHECK(advance_through(c) == 1);
    CHECK(beside->take() == "changes1 ");
    CHECK(role->take() == "changes1 ");
    CHECK(view->take() == "changes1 ");

    thrower->throws = false;
    c.server.apply(c.pod_one({{"v", "3"}}));
    CHECK(advance_through(c) == 0);
    CHECK(beside->take() == "changes1 ");
}

TEST_CASE("GroupWatcher: unused watches end although a new observer throws at once") {
    Cluster c;
    const auto watcher =
        GroupWatcher::acquire(c.context.get_executor(), resolve(c.config(Role::pod)));
    const auto pods = watcher->subscribe(Role::pod, std::make_shared<Recorder>());
    auto nodes = watcher->subscribe(Role::node, std::make_shared<Recorder>());
    c.advance(1s);
    REQUIRE(c.metrics->of(Kind::node).objects > 0);
    nodes.reset();
    const auto thrower = std::make_shared<Thrower>();
    const auto late = watcher->subscribe(Role::pod, thrower);
    CHECK(advance_through(c) > 0);
    CHECK(c.metrics->of(Kind::node).objects == 0);
}
