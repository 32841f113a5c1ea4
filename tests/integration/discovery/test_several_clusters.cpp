#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/status.hpp"
#include "support/allocations.hpp"
#include "support/contains.hpp"
#include "support/effort.hpp"
#include "support/job_host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/router.hpp"
#include "support/simulation.hpp"
#include "support/slow_connector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A cluster by the name of its host, and other clusters with a fault each.
struct Clusters : WithRouter, Simulation {
    Clusters()
        : Simulation({}, {}, {},
                     [this](const Environment& environment) {
                         router->servers["good"] = environment.connector;
                         return router;
                     }),
          other(context.get_executor(), {.clock = clock}),
          secured(context.get_executor(), {.token = "secret", .clock = clock}) {
        router->servers["other"] = other.connector();
        router->servers["secured"] = secured.connector();
        // A handshake that never ends looks the same to the client.
        router->servers["stalled"] = std::make_shared<SlowConnector>(
            nullptr, clock, [](const ConnectTarget&) { return SlowConnector::Attempt{}; });
        for (sim::ApiServer* each : {&server, &other}) {
            each->apply(pod({.name = "p1"}));
            each->apply(pod({.name = "p2"}));
        }
    }
    ~Clusters() { router->servers.clear(); }

    static DiscoveryConfig pods_of(const std::string& host, const std::string& name = {}) {
        DiscoveryConfig config{.watch = plain_lists({.max_objects = 100})};
        config.api_server.url = "https://" + host;
        config.cluster.name = name.empty() ? host : name;
        return config;
    }
    ServerHealth server_at(const DiscoveryManager& manager, const std::string& name) const {
        for (ServerHealth& status : manager.servers()) {
            if (status.cluster == name) return status;
        }
        return {};
    }

    sim::ApiServer other;
    sim::ApiServer secured;
};

std::vector<std::string> values_of(const JobLedger& host, const std::string& job,
                                   const std::string& label) {
    std::vector<std::string> values;
    for (const auto& [source, targets] : host.state(job)) {
        for (const LabelMap& target : targets) {
            const auto found = target.find(label);
            values.push_back(found == target.end() ? "none" : found->second);
        }
    }
    std::sort(values.begin(), values.end());
    return values;
}

sim::Response answer(const std::string& body) {
    sim::Response response;
    response.body = body;
    return response;
}

/// A list of so many pods.
std::string long_list(std::size_t count) {
    std::string body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                       R"("items":[)";
    for (std::size_t i = 0; i < count; ++i) {
        body += std::string(i == 0 ? "" : ",") + R"({"metadata":{"namespace":"default","name":"p)" +
                std::to_string(i) + R"("},"status":{"podIP":"10.0.0.1"}})";
    }
    return body + "]}";
}

}  // namespace

TEST_CASE("Several clusters: targets of each server have its name as a label of the group") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    DiscoveryConfig second = Clusters::pods_of("other");
    second.cluster.label = "__meta_cluster";
    CHECK(host.manager->apply_config({{"a", {Clusters::pods_of("good"), second}}}).empty());
    c.settle();
    CHECK(values_of(host, "a", "cluster") ==
          std::vector<std::string>{"good", "good", "none", "none"});
    CHECK(values_of(host, "a", "__meta_cluster") ==
          std::vector<std::string>{"none", "none", "other", "other"});
    const auto snapshot = host.manager->snapshot("a");
    REQUIRE(snapshot->providers.size() == 2);
    for (const auto& group : snapshot->providers.front().groups)
        CHECK(group->labels().get("cluster") == "good");
    CHECK(host.problems() == "");
}

TEST_CASE("Several clusters: names do not stop the sharing of groups and watches") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    const DiscoveryConfig one = Clusters::pods_of("good", "one");
    host.manager->apply_config({{"a", {one}}, {"b", {one}}});
    c.settle();
    CHECK(c.metrics->providers == 1);
    const auto group_of = [&](const char* job) {
        return host.manager->snapshot(job)->providers.front().groups.front();
    };
    CHECK(group_of("a") == group_of("b"));

    c.take_requests();
    host.manager->apply_config({{"a", {one}}, {"b", {Clusters::pods_of("good", "two")}}});
    c.settle();
    CHECK(c.take_requests().empty());  // the watches serve both names
    CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"one", "one"});
    CHECK(values_of(host, "b", "cluster") == std::vector<std::string>{"two", "two"});
    CHECK(host.problems() == "");
}

TEST_CASE("Several clusters: health and use of each server are known by its name") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    DiscoveryConfig unusable;
    unusable.kubeconfig_file = "/nonexistent/kubeconfig";
    unusable.cluster.name = "gone";
    DiscoveryConfig services = Clusters::pods_of("good");
    services.role = Role::service;
    host.manager->apply_config({{"a", {Clusters::pods_of("good"), Clusters::pods_of("secured")}},
                                {"b", {Clusters::pods_of("good"), services, unusable}}});
    c.settle();
    const std::vector<ServerHealth> servers = host.manager->servers();
    REQUIRE(servers.size() == 3);
    const ServerHealth& good = servers[0];
    CHECK(good.cluster == "good");
    CHECK(good.server == "https://good");
    CHECK(good.synced);
    CHECK_FALSE(good.error);
    CHECK(good.configs == 2);
    CHECK(good.watches == 2);
    CHECK(good.objects == 2);
    CHECK(good.targets == 2);
    CHECK(good.usage.requests == 4);
    CHECK(good.usage.failures == 0);
    CHECK(good.usage.received_bytes > 0);
    CHECK(good.usage.open_watches == 2);
    CHECK(good.usage.lists_running == 0);
    CHECK(good.usage.connections >= 1);
    CHECK(good.usage.connections == c.server.open_connections());

    CHECK(servers[1].cluster == "secured");
    CHECK_FALSE(servers[1].synced);
    CHECK(servers[1].error == errc::unauthorized);
    CHECK(contains(servers[1].message, "401"));
    CHECK(servers[1].failing_watches == 1);

    CHECK(servers[2].cluster == "gone");
    CHECK(servers[2].server.empty());
    CHECK(servers[2].unusable == 1);
    CHECK(contains(servers[2].message, "/nonexistent/kubeconfig"));

    const std::string text = to_prometheus_text(servers);
    CHECK(contains(text, "k8s_sd_server_synced{cluster=\"good\",server=\"https://good\"} 1\n"));
    CHECK(
        contains(text, "k8s_sd_server_failing{cluster=\"secured\",server=\"https://secured\"} 1"));
    CHECK(contains(text, "k8s_sd_server_configs{cluster=\"gone\"} 1\n"));

    host.manager->apply_config({});
    c.settle();
    CHECK(host.manager->servers().empty());
    CHECK(server_usage(c.context).empty());
}

TEST_CASE("Several clusters: one that is away does not keep the replaced targets of others") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    host.manager->apply_config({{"a", {Clusters::pods_of("good"), Clusters::pods_of("other")}}});
    c.settle();
    const auto with_selector = [](const std::string& name) {
        DiscoveryConfig config = Clusters::pods_of(name);
        config.selectors = {{Role::pod, "app=web", ""}};
        return config;
    };
    c.other.deny("pods");
    c.server.apply(pod({.name = "p1", .labels = {{"app", "web"}}}));
    host.manager->apply_config(
        {{"a", {with_selector("good"), with_selector("other"), Clusters::pods_of("secured")}}});
    c.settle();
    CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"good", "other", "other"});
    CHECK(host.manager->status().front().superseded == 1);

    // Nothing replaces the targets of a cluster that is gone, so they wait for all.
    host.manager->apply_config({{"a", {with_selector("good"), Clusters::pods_of("stalled")}}});
    c.settle();
    CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"good", "other", "other"});
    host.manager->apply_config({{"a", {with_selector("good")}}});
    c.settle();
    CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"good"});
    CHECK(host.problems() == "");
}

TEST_CASE("Several clusters: one that is away does not keep the targets of a removed one") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    const auto apply = [&](const std::vector<DiscoveryConfig>& configs) {
        host.manager->apply_config({{.name = "a", .configs = configs, .supersede_timeout = {}}});
        c.settle();
    };
    const DiscoveryConfig good = Clusters::pods_of("good");
    const DiscoveryConfig away = Clusters::pods_of("secured");
    const DiscoveryConfig moved = Clusters::pods_of("stalled", "other");
    const std::vector<std::string> both{"good", "good", "other", "other"};
    apply({good, Clusters::pods_of("other")});
    apply({good, moved});
    apply({good, moved, away});
    CHECK(values_of(host, "a", "cluster") == both);
    CHECK(host.manager->status().front().superseded == 1);
    SECTION("whose address had changed") {
        apply({good, away});
        CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"good", "good"});
        CHECK(host.manager->status().front().superseded == 0);
    }
    SECTION("but those of a replaced one stay, whatever is applied again") {
        const DiscoveryConfig successor = Clusters::pods_of("stalled", "successor");
        apply({good, away, successor});
        CHECK(values_of(host, "a", "cluster") == both);
        apply({good, away, successor});
        CHECK(values_of(host, "a", "cluster") == both);
        apply({good, successor});
        CHECK(values_of(host, "a", "cluster") == both);
        apply({good});
        CHECK(values_of(host, "a", "cluster") == std::vector<std::string>{"good", "good"});
    }
    CHECK(host.problems() == "");
}

TEST_CASE("Several clusters: watches of equal kinds have series of their own") {
    Clusters c;
    JobHost host(c.context.get_executor());
    host.run();
    host.manager->apply_config({{"a", {Clusters::pods_of("good"), Clusters::pods_of("other")}}});
    c.settle();
    std::vector<WatchStatus> watches;
    const std::vector<JobStatus> jobs = host.manager->status();
    for (const JobConfigStatus& config : jobs.front().configs) {
        watches.insert(watches.end(), config.status.watches.begin(), config.status.watches.end());
    }
    const std::string text = to_prometheus_text(watches, c.clock->now());
    for (const std::string name : {"good", "other"}) {
        CHECK(contains(text, "k8s_sd_watch_synced{cluster=\"" + name + "\",server=\"https://" +
                                 name + "\",resource=\"pods\",namespace=\"\"} 1\n"));
    }
}

namespace {

/// What the good cluster sees and what the host gets from it, with the times.
struct Course {
    std::vector<std::pair<Duration, std::string>> requests;
    std::vector<std::pair<Duration, std::string>> diffs;
    bool operator==(const Course&) const = default;
};

/// The course of two hours with changes, beside the given clusters.
Course course(const std::vector<DiscoveryConfig>& others,
              const std::function<void(Clusters&)>& set_up,
              const std::function<void(Clusters&, const DiscoveryManager&)>& check) {
    Clusters c;
    set_up(c);
    Course course;
    const TimePoint start = c.clock->now();
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        course.requests.emplace_back(c.clock->now() - start, request.target);
        return std::nullopt;
    });
    JobHost host(c.context.get_executor());
    host.after_diff = [&](const JobDiff& diff) {
        if (diff.job == "good")
            course.diffs.emplace_back(c.clock->now() - start, host.take_diffs());
    };
    host.run();
    std::vector<Job> jobs{{"good", {Clusters::pods_of("good")}}};
    if (!others.empty()) jobs.push_back({"others", others});
    host.manager->apply_config(jobs);
    c.settle();
    for (int i = 0; i < 24; ++i) {
        c.advance(5min);
        c.server.apply(pod({.name = "p1", .labels = {{"v", std::to_string(i)}}}));
        if (i == 11) c.server.disconnect_all();
        c.settle();
        check(c, *host.manager);
    }
    CHECK(host.sources("good") == "p1 p2");
    const auto good = c.server_at(*host.manager, "good");
    CHECK(good.synced);
    CHECK(good.usage.connects_waiting == 0);
    CHECK(host.problems() == "");
    return course;
}

}  // namespace

TEST_CASE("Several clusters: one that is away or lies does not disturb the others") {
    const Course alone = course(
        {}, [](Clusters&) {}, [](Clusters&, const DiscoveryManager&) {});
    CHECK(alone.diffs.size() == 25);  // the first state, and each change at once
    const auto undisturbed = [&](const std::string& host, const auto& set_up, const auto& check) {
        DiscoveryConfig services = Clusters::pods_of(host);
        services.role = Role::service;
        const Course now = course({Clusters::pods_of(host), services}, set_up,
                                  [&](Clusters& c, const DiscoveryManager& manager) {
                                      const ServerHealth bad = c.server_at(manager, host);
                                      CHECK(bad.error);
                                      check(c, bad);
                                  });
        // The diffs of the others are in the log of the host, too.
        CHECK(now.requests == alone.requests);
        REQUIRE(now.diffs.size() == alone.diffs.size());
        for (std::size_t i = 0; i < now.diffs.size(); ++i)
            CHECK(now.diffs[i].first == alone.diffs[i].first);
    };
    const auto ok = [](Clusters&, const ServerHealth&) {};

    SECTION("refuses connections") {
        undisturbed(
            "other", [](Clusters& c) { c.other.accept_connections(false); },
            [](Clusters&, const ServerHealth& bad) { CHECK(bad.usage.connections <= 2); });
    }
    SECTION("stalls in the handshake") {
        undisturbed(
            "stalled", [](Clusters&) {},
            [](Clusters&, const ServerHealth& bad) {
                CHECK(bad.usage.connects_running <= 2);
                CHECK(bad.usage.connections <= 2);
            });
    }
    SECTION("accepts requests and never answers") {
        undisturbed(
            "other",
            [](Clusters& c) {
                c.other.set_intercept([](const sim::Request&) { return sim::Response::never(); });
            },
            ok);
    }
    SECTION("does not know us") {
        undisturbed(
            "secured", [](Clusters&) {}, ok);
    }
    SECTION("sends garbage") {
        undisturbed(
            "other",
            [](Clusters& c) {
                c.other.set_intercept([](const sim::Request&) -> std::optional<sim::Response> {
                    return answer("\x01{[garbage");
                });
            },
            [](Clusters&, const ServerHealth& bad) { CHECK(bad.objects == 0); });
    }
    SECTION("sends lists without an end") {
        const std::string body = long_list(2'000);
        undisturbed(
            "other",
            [&](Clusters& c) {
                c.other.set_intercept([&](const sim::Request&) -> std::optional<sim::Response> {
                    return answer(body);
                });
            },
            // Bounded by WatchOptions::max_objects of each watch.
            [](Clusters& c, const ServerHealth& bad) {
                CHECK(bad.objects <= 200);
                CHECK(c.metrics->of(Kind::pod).objects <= 100 + 2);
                CHECK(bad.targets == 0);
            });
    }
}

namespace {

/// A server that is reached, TLS included, and then sends a text again and again, 64 KiB in 30
/// seconds; without a text it closes each connection.
class EndlessServer final : public Connector {
 public:
    EndlessServer(std::shared_ptr<Clock> clock, std::string head, std::string text)
        : clock_(std::move(clock)), head_(std::move(head)), text_(std::move(text)) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget&) override {
        return std::make_unique<Stream>(*this, std::move(executor));
    }

    int handshakes = 0;
    std::size_t sent = 0;  ///< bytes

 private:
    class Stream final : public ByteStream {
     public:
        Stream(EndlessServer& server, asio::any_io_executor executor)
            : server_(server),
              executor_(std::move(executor)),
              timer_(server.clock_->make_timer(executor_)),
              rest_(server.head_) {}
        ~Stream() override { close(); }

        void async_connect(ConnectHandler handler) override {
            ++server_.handshakes;
            asio::post(executor_, [handler = std::move(handler)] { handler({}, {}); });
        }
        void async_write(asio::const_buffer data, IoHandler handler) override {
            asio::post(executor_,
                       [handler = std::move(handler), size = data.size()] { handler({}, size); });
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            reader_ = std::move(handler);
            if (server_.head_.empty()) return finish(asio::error::eof, 0);
            if (in_burst_ < burst) return send(buffer);
            in_burst_ = 0;
            timer_->expires_at(server_.clock_->now() + 30s, [this, buffer] { send(buffer); });
        }
        void close() noexcept override {
            timer_->cancel();
            if (reader_) finish(asio::error::operation_aborted, 0);
        }

     private:
        static constexpr std::size_t burst = rounds(std::size_t{64} << 10);

        void send(asio::mutable_buffer buffer) {
            if (rest_.empty()) {
                while (rest_.size() < burst) rest_ += server_.text_;
            }
            const std::size_t n = std::min(buffer.size(), rest_.size());
            std::copy_n(rest_.data(), n, static_cast<char*>(buffer.data()));
            rest_.erase(0, n);
            in_burst_ += n;
            server_.sent += n;
            finish({}, n);
        }
        void finish(error_code ec, std::size_t n) {
            asio::post(executor_,
                       [handler = std::exchange(reader_, nullptr), ec, n] { handler(ec, n); });
        }

        EndlessServer& server_;
        asio::any_io_executor executor_;
        std::unique_ptr<Timer> timer_;
        std::string rest_;
        std::size_t in_burst_ = 0;
        IoHandler reader_;
    };

    const std::shared_ptr<Clock> clock_;
    const std::string head_, text_;
};

/// The beginning of a list of pods.
const std::string list_head =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{)";

/// A course beside such a server, and the most memory that it took.
struct Measured {
    Measured() {
        run({}, [](Clusters&) {});
    }
    Measured(const std::string& head, const std::string& text) {
        DiscoveryConfig pods = Clusters::pods_of("endless");
        pods.watch.max_object_bytes = rounds(std::size_t{1} << 20);
        DiscoveryConfig services = pods;
        services.role = Role::service;
        run({pods, services}, [&](Clusters& c) {
            server = std::make_shared<EndlessServer>(c.clock, head, text);
            c.router->servers["endless"] = server;
        });
    }

    std::shared_ptr<EndlessServer> server;
    Course course_of_good;
    long peak = 0;  ///< bytes

 private:
    void run(const std::vector<DiscoveryConfig>& others,
             const std::function<void(Clusters&)>& set_up) {
        memory_use = {.on = true};
        course_of_good = course(others, set_up, [](Clusters& c, const DiscoveryManager& manager) {
            CHECK(c.server_at(manager, "endless").objects <= 200);
        });
        memory_use.on = false;
        peak = memory_use.peak;
    }
};

}  // namespace

TEST_CASE("Several clusters: bodies without an end cost a bounded memory, and others nothing") {
    const Measured alone;
    const auto check = [&](const Measured& now) {
        CHECK(now.course_of_good.requests == alone.course_of_good.requests);
        CHECK(now.course_of_good.diffs.size() == alone.course_of_good.diffs.size());
        // Two watches with WatchOptions::max_object_bytes each, and their buffers.
        CHECK(now.peak - alone.peak < rounds(long{8} << 20));
        CHECK(now.server->handshakes < 1'000);
    };
    const auto list_with = [](const char* object) { return list_head + object; };
    SECTION("in a name") { check({list_with(R"("metadata":{"name":")"), "x"}); }
    SECTION("in a value that no label has") {
        const Measured now(list_with(R"("spec":{"x":")"), "x");
        check(now);
        CHECK(now.server->sent > rounds(std::size_t{16} << 20));
    }
    SECTION("of labels") { check({list_with(R"("metadata":{"labels":{"a":"b")"), R"(,"a":"b")"}); }
    SECTION("of pods") {
        check({list_with(R"("metadata":{"name":"a"}})"), R"(,{"metadata":{"name":"a"}})"});
    }
}

TEST_CASE("Several clusters: handshakes with a server that closes each connection are bounded") {
    const Measured alone;
    const Measured now("", "");
    CHECK(now.course_of_good.requests == alone.course_of_good.requests);
    CHECK(now.course_of_good.diffs.size() == alone.course_of_good.diffs.size());
    // Two watches, for two hours.
    CHECK(now.server->handshakes > 100);
    CHECK(now.server->handshakes < 2 * 7'200 / 10);
    CHECK(now.peak - alone.peak < long{1} << 20);
}
