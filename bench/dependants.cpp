// The cost of a change that affects many targets, or few of many: from the bytes of the event to
// the diff in the host's callback, CPU of the client only. The server runs in the same process,
// while the client's CPU clock is stopped.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace k8s_sd;

double cpu() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

json::object meta(const std::string& ns, const std::string& name, std::size_t revision) {
    json::object labels{{"app", "web"}, {"revision", std::to_string(revision)}};
    for (const char* key : {"team", "tier", "release", "zone", "stage"}) labels[key] = "some-value";
    json::object meta{{"name", name}, {"labels", std::move(labels)}};
    if (!ns.empty()) meta["namespace"] = ns;
    return meta;
}
json::object object(const char* kind, const char* version, json::object meta) {
    return {{"kind", kind}, {"apiVersion", version}, {"metadata", std::move(meta)}};
}
std::string pod_name(std::size_t i) { return "web-6c86ccdb5c-" + std::to_string(10000 + i); }
std::string pod_address(std::size_t i) {
    return "10." + std::to_string(i / 62500) + '.' + std::to_string(i / 250 % 250) + '.' +
           std::to_string(i % 250);
}
constexpr int ports[] = {8080, 8081, 9090};

json::object pod(std::size_t i, std::size_t revision) {
    json::array declared;
    for (const int port : ports) {
        declared.push_back(json::object{
            {"name", "p" + std::to_string(port)}, {"containerPort", port}, {"protocol", "TCP"}});
    }
    json::object pod = object("Pod", "v1", meta("shop", pod_name(i), revision));
    pod["spec"] = json::object{
        {"nodeName", "node-" + std::to_string(i / 250)},
        {"containers", json::array{json::object{
                           {"name", "web"}, {"image", "web:1"}, {"ports", std::move(declared)}}}}};
    pod["status"] = json::object{{"phase", "Running"}, {"podIP", pod_address(i)}};
    return pod;
}
json::object slice(std::size_t endpoints) {
    json::array list, numbers;
    for (std::size_t i = 0; i < endpoints; ++i) {
        list.push_back(json::object{
            {"addresses", json::array{pod_address(i)}},
            {"conditions", json::object{{"ready", true}}},
            {"nodeName", "node-" + std::to_string(i / 250)},
            {"targetRef",
             json::object{{"kind", "Pod"}, {"name", pod_name(i)}, {"namespace", "shop"}}}});
    }
    for (const int port : ports) {
        numbers.push_back(json::object{
            {"name", "p" + std::to_string(port)}, {"port", port}, {"protocol", "TCP"}});
    }
    json::object slice = object("EndpointSlice", "discovery.k8s.io/v1", meta("shop", "web-x", 0));
    slice["metadata"].as_object()["labels"].as_object()["kubernetes.io/service-name"] = "web";
    slice["addressType"] = "IPv4";
    slice["endpoints"] = std::move(list);
    slice["ports"] = std::move(numbers);
    return slice;
}
json::object service() {
    json::object service = object("Service", "v1", meta("shop", "web", 0));
    service["spec"] = json::object{{"type", "ClusterIP"}, {"clusterIP", "10.96.0.1"}};
    return service;
}

/// The cost of one change.
struct Cost {
    double seconds = 0, groups = 0, parts = 0;
};

/// A server with a cluster, and a host that keeps all targets.
class World {
 public:
    World(Role role, const AttachMetadata& attach) {
        Environment environment;
        environment.connector = server.connector();
        install(client_, environment);
        config_.role = role;
        config_.api_server.url = server.url();
        config_.attach_metadata = attach;
    }
    void start() {
        discoverer_.emplace(client_.get_executor(), config_, [this](const TargetGroupDiff& diff) {
            host_.apply(diff);
            for (const GroupChange& change : diff.updated) {
                if (!diff.full) changed_ += change.targets().added.size();
            }
            ++diffs_;
        });
        discoverer_->async_run([](error_code) {});
        settle();
        if (diffs_ == 0) std::abort();
    }
    /// \param change  called with the number of the round
    template <class Change>
    Cost measure(std::size_t rounds, const Change& change) {
        const auto metrics = metrics_of(client_);
        const auto groups = metrics->groups_generated.load();
        const auto parts = metrics->target_parts_generated.load();
        const std::size_t diffs = diffs_;
        Cost cost;
        for (std::size_t i = 1; i <= rounds; ++i) {
            change(i);
            cost.seconds += settle();
        }
        if (diffs_ - diffs < rounds) std::abort();
        const auto each = [&](auto sum) {
            return static_cast<double>(sum) / static_cast<double>(rounds);
        };
        cost.seconds = each(cost.seconds);
        cost.groups = each(metrics->groups_generated.load() - groups);
        cost.parts = each(metrics->target_parts_generated.load() - parts);
        return cost;
    }
    std::size_t targets() const { return host_.target_count(); }

 private:
    /// \returns the CPU time of the client
    double settle() {
        double sum = 0;
        for (std::size_t idle = 0; idle < 2;) {
            server_.restart();
            const bool served = server_.poll() != 0;
            client_.restart();
            const double begin = cpu();
            const bool worked = client_.poll() != 0;
            sum += cpu() - begin;
            idle = served || worked ? 0 : idle + 1;
        }
        return sum;
    }

    asio::io_context server_, client_;
    DiscoveryConfig config_;
    TargetGroups host_;
    std::size_t diffs_ = 0, changed_ = 0;
    std::optional<Discoverer> discoverer_;

 public:
    sim::ApiServer server{server_.get_executor()};
};

void print(const char* what, const Cost& cost) {
    std::printf("%-44s %9.4f ms, %7.0f groups and %5.0f parts made\n", what, cost.seconds * 1e3,
                cost.groups, cost.parts);
}

void measure_slice(std::size_t endpoints, std::size_t rounds) {
    World world(Role::endpointslice, {});
    world.server.apply(service());
    for (std::size_t i = 0; i < endpoints; ++i) world.server.apply(pod(i, 0));
    world.server.apply(slice(endpoints));
    world.start();
    const Cost one =
        world.measure(rounds, [&](std::size_t i) { world.server.apply(pod(i % endpoints, i)); });
    const Cost all = world.measure(rounds, [&](std::size_t i) {
        if (i % 2 == 0) {
            world.server.apply(service());
        } else {
            world.server.remove("services", "shop", "web");
        }
    });
    std::printf("a slice of %zu endpoints, %zu targets\n", endpoints, world.targets());
    print("  a pod changes", one);
    print("  its service comes or goes: all made anew", all);
    std::printf("  a pod's change takes %.3f of making all anew\n", one.seconds / all.seconds);
}

void measure_pods(std::size_t pods, std::size_t rounds, bool of_namespace) {
    AttachMetadata attach;
    (of_namespace ? attach.namespace_ : attach.node) = true;
    World world(Role::pod, attach);
    const auto change = [&](std::size_t i) {
        world.server.apply(of_namespace ? object("Namespace", "v1", meta("", "shop", i))
                                        : object("Node", "v1", meta("", "node-0", i)));
    };
    change(0);
    for (std::size_t i = 0; i < pods; ++i) world.server.apply(pod(i, 0));
    world.start();
    const Cost attached = world.measure(rounds, change);
    const Cost whole = world.measure(std::min<std::size_t>(pods, 1000),
                                     [&](std::size_t i) { world.server.apply(pod(i - 1, i)); });
    std::printf("%zu pods of a %s, %zu targets\n", pods, of_namespace ? "namespace" : "node",
                world.targets());
    print("  its labels change", attached);
    print("  a pod changes", whole);
    std::printf("  a group of the first takes %.0f ns, %.3f of the time of a pod's change\n",
                attached.seconds / attached.groups * 1e9,
                attached.seconds / attached.groups / whole.seconds);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_dependants [ENDPOINTS=100] [ROUNDS=2000] [PODS=50000]");
        return 0;
    }
    const std::size_t rounds = bench::argument(argc, argv, 2, 2000);
    measure_slice(bench::argument(argc, argv, 1, 100), rounds);
    measure_pods(250, std::max<std::size_t>(rounds / 10, 1), false);
    measure_pods(bench::argument(argc, argv, 3, 50'000), 10, true);
    return 0;
}
