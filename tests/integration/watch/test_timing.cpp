#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/manual_clock.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/tested_http_version.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

namespace {

/// Streams that never connect.
class SilentConnector final : public Connector {
 public:
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override {
        ++streams;
        return std::make_unique<Stream>();
    }
    int streams = 0;

 private:
    struct Stream final : ByteStream {
        void async_connect(ConnectHandler h) override { handler = std::move(h); }
        void async_read_some(asio::mutable_buffer, IoHandler) override {}
        void async_write(asio::const_buffer, IoHandler) override {}
        void close() noexcept override {}
        ConnectHandler handler;
    };
};

/// A server whose clock a test can stop: it then sends neither bookmarks nor the end of a watch.
struct FrozenServer : Simulation {
    explicit FrozenServer(bool bookmarks, WatchOptions options = plain_lists())
        : FrozenServer(bookmarks, options, std::make_shared<ManualClock>()) {}
    FrozenServer(bool bookmarks, WatchOptions options, std::shared_ptr<ManualClock> own)
        : Simulation(server_options(bookmarks, own)),
          server_clock(std::move(own)),
          probe(*this, {}, options) {
        server.apply(pod({.name = "a"}));
        probe.start();
        take_requests();
    }
    static sim::ApiServerOptions server_options(bool bookmarks, std::shared_ptr<ManualClock> own) {
        sim::ApiServerOptions options = json_server();
        options.bookmarks = bookmarks;
        options.clock = std::move(own);
        return options;
    }
    /// Advances the time of both sides.
    void advance_both(Duration time) {
        for (Duration done{}; done < time; done += 1s) {
            server_clock->advance(1s);
            advance(1s);
        }
    }
    /// The time until the watch is reopened.
    Duration silence() {
        const TimePoint start = clock->now();
        while (take_requests().empty()) {
            REQUIRE(clock->now() - start < 3600s);
            advance(1s);
        }
        return clock->now() - start;
    }

    std::shared_ptr<ManualClock> server_clock;
    WatchProbe probe;
};

WatchOptions watches_of(Duration time) {
    WatchOptions options = plain_lists();
    options.watch_timeout_min = options.watch_timeout_max = time;
    return options;
}

}  // namespace

TEST_CASE("Timing: a watch that the server ends in time is reopened at once") {
    Simulation sim;
    const std::string version = sim.server.apply(pod({.name = "a"}));
    WatchProbe probe(sim, {}, watches_of(300s));
    probe.start();
    sim.take_requests();
    sim.advance(299s);
    CHECK(sim.take_requests().empty());
    sim.advance(1100ms);
    CHECK(sim.take_requests() == std::vector<std::string>{"WATCH /api/v1/pods from " + version});
    CHECK(sim.metrics->of(Kind::pod).network_errors == 0);
    CHECK(sim.take_log().empty());
}

TEST_CASE("Timing: a day without changes costs one request every five to ten minutes") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    WatchProbe probe(sim);
    probe.start();
    sim.take_requests();
    sim.advance(24h);
    const std::size_t requests = sim.take_requests().size();
    CHECK(requests >= 24 * 6);
    CHECK(requests <= 24 * 12);
    CHECK(sim.metrics->of(Kind::pod).lists == 1);
    CHECK(sim.metrics->of(Kind::pod).network_errors == 0);
    CHECK(sim.take_log().empty());
}

TEST_CASE("Timing: a silent watch is dropped ten seconds after its end") {
    FrozenServer sim(false, watches_of(300s));
    const Duration silence = sim.silence();
    CHECK(silence >= 310s);
    CHECK(silence <= 313s);
    CHECK(sim.metrics->of(Kind::pod).lists == 1);
    CHECK(sim.metrics->of(Kind::pod).network_errors == 1);
    CHECK(sim.server.open_connections() == 1);
    CHECK_FALSE(sim.probe.status().error);
}

TEST_CASE("Timing: a watch that never answers is dropped as well") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    sim.server.set_intercept([](const sim::Request& request) -> std::optional<Response> {
        return request.is_watch() ? std::optional(Response::never()) : std::nullopt;
    });
    WatchProbe probe(sim, {}, watches_of(300s));
    probe.start();
    CHECK(probe.synced == 1);
    sim.advance(309s);
    CHECK_FALSE(probe.status().error);
    sim.advance(1s);
    CHECK(probe.status().error == errc::idle_timeout);
    CHECK(probe.watcher().size() == 1);
    sim.server.set_intercept({});
    sim.advance(5s);
    CHECK_FALSE(probe.status().error);
    CHECK(sim.server.open_connections() == 1);
}

TEST_CASE("Timing: after two bookmarks silence may last two and a half times their interval") {
    FrozenServer sim(true, watches_of(600s));
    SECTION("none was seen yet") { CHECK(sim.silence() >= 610s); }
    SECTION("one says nothing about the next") {
        sim.advance_both(60s);
        CHECK(sim.silence() >= 600s);
    }
    SECTION("two were seen") {
        sim.advance_both(120s);
        REQUIRE(sim.metrics->of(Kind::pod).bookmarks == 2);
        const Duration silence = sim.silence();
        CHECK(silence >= 148s);
        CHECK(silence <= 154s);
    }
    SECTION("events count, too") {
        sim.advance_both(120s);
        sim.advance(100s);
        sim.server.apply(pod({.name = "b"}));
        sim.settle();
        CHECK(sim.silence() >= 148s);
    }
    SECTION("the interval holds for later watches") {
        sim.advance_both(601s);
        sim.take_requests();
        CHECK(sim.silence() <= 154s);
    }
    CHECK(sim.metrics->of(Kind::pod).lists == 1);
    CHECK(sim.probe.names() == (sim.server.count("pods") == 2 ? std::set<std::string>{"a", "b"}
                                                              : std::set<std::string>{"a"}));
}

TEST_CASE("Timing: bookmarks that come together do not make it impatient") {
    FrozenServer sim(true, watches_of(300s));
    const std::string bookmark = R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",)"
                                 R"("metadata":{"resourceVersion":")" +
                                 sim.server.resource_version() + "\"}}}\n";
    const auto gap = GENERATE(Duration(0), Duration(1ms), Duration(1s));
    sim.server.send_to_watches("pods", bookmark);
    sim.advance(gap);
    sim.server.send_to_watches("pods", bookmark);
    sim.settle();
    REQUIRE(sim.metrics->of(Kind::pod).bookmarks == 2);
    const Duration silence = sim.silence();
    CHECK(silence >= 10s);
    CHECK(silence <= 312s);
}

TEST_CASE("Timing: bookmarks far apart do not make it more patient than the watch is long") {
    FrozenServer sim(true, watches_of(300s));
    const std::string bookmark = R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",)"
                                 R"("metadata":{"resourceVersion":")" +
                                 sim.server.resource_version() + "\"}}}\n";
    sim.server.send_to_watches("pods", bookmark);
    sim.advance(200s);
    sim.server.send_to_watches("pods", bookmark);
    sim.settle();
    CHECK(sim.silence() <= 313s);
}

TEST_CASE("Timing: connecting has its own limit") {
    const auto silent = std::make_shared<SilentConnector>();
    Simulation sim({}, {}, {}, [&](const auto&) { return silent; });
    WatchOptions options = plain_lists();
    options.connect_timeout = 7s;
    WatchProbe probe(sim, {}, options);
    probe.start();
    sim.advance(6900ms);
    CHECK_FALSE(probe.status().error);
    sim.advance(100ms);
    CHECK(probe.status().error == errc::connect_timeout);
    CHECK(contains(probe.status().message, "7 s"));
    CHECK(sim.metrics->of(Kind::pod).network_errors == 1);
    sim.advance(1600ms);
    CHECK(silent->streams == 2);
    sim.advance(120s);
    CHECK(silent->streams <= 12);
    CHECK(sim.take_log().size() == 1);
}

TEST_CASE("Timing: a list may be slow, but not silent") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    sim.server.fail_next(Response::never());
    WatchProbe probe(sim);
    probe.start();
    sim.advance(9900ms);
    CHECK_FALSE(probe.status().error);
    sim.advance(100ms);
    CHECK(probe.status().error == errc::response_timeout);
    CHECK(contains(probe.status().message, "10 s"));
    CHECK(sim.metrics->of(Kind::pod).network_errors == 1);
    sim.advance(2s);
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("Timing: a list without another form has the whole response_timeout") {
    WatchOptions options = plain_lists();
    options.page_size = 0;
    options.protobuf = false;
    Simulation sim;
    sim.server.fail_next(Response::never());
    WatchProbe probe(sim, {}, options);
    probe.start();
    sim.advance(74s);
    CHECK_FALSE(probe.status().error);
    sim.advance(1s);
    CHECK(probe.status().error == errc::response_timeout);
    CHECK(contains(probe.status().message, "75 s"));
}

TEST_CASE("Timing: limits of zero are none") {
    WatchOptions options = watches_of(0s);
    options.response_timeout = options.connect_timeout = 0s;
    Simulation sim;
    sim.server.fail_next(Response::never());
    WatchProbe probe(sim, {}, options);
    probe.start();
    sim.advance(24h);
    CHECK_FALSE(probe.status().error);
    CHECK(sim.take_requests().size() == 1);
    sim.server.disconnect_all();
    sim.advance(2s);
    const auto requests = sim.server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[1].request.is_watch());
    CHECK(requests[1].request.param("timeoutSeconds").empty());
}

TEST_CASE("Timing: the pauses between failures double up to the longest, and start anew") {
    WatchOptions options = plain_lists();
    options.backoff_min = 1s;
    options.backoff_max = 16s;
    options.page_size = 0;  // other forms of the list follow earlier
    options.protobuf = false;
    Simulation sim;
    std::vector<TimePoint> attempts;
    sim.server.set_intercept([&](const auto&) {
        attempts.push_back(sim.clock->now());
        return Response::failure(500, "InternalError", "no");
    });
    WatchProbe probe(sim, {}, options);
    probe.start();
    sim.advance(100s);
    REQUIRE(attempts.size() >= 7);
    Duration least = 1s;
    for (std::size_t i = 1; i < attempts.size(); ++i) {
        CAPTURE(i);
        CHECK(attempts[i] - attempts[i - 1] >= least);
        CHECK(attempts[i] - attempts[i - 1] <= 2 * least);
        least = std::min<Duration>(2 * least, 16s);
    }
    sim.server.set_intercept({});
    sim.advance(30s);
    sim.server.apply(pod({.name = "a"}));
    sim.settle();
    CHECK(probe.names().size() == 1);
    sim.server.disconnect_all();
    sim.settle();
    sim.take_requests();
    sim.advance(2s);
    CHECK(sim.take_requests().size() == 2);  // one for the version, one to watch
}

TEST_CASE("Timing: watchers that failed together do not come back together") {
    Simulation sim;
    std::map<std::string, std::vector<TimePoint>> attempts;
    sim.server.set_intercept([&](const sim::Request& request) {
        attempts[request.path].push_back(sim.clock->now());
        return Response::failure(500, "InternalError", "no");
    });
    std::vector<std::unique_ptr<Host>> hosts;
    for (const std::string ns : {"a", "b", "c", "d", "e"}) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = sim.server.url();
        config.api_server.http_version = tested_http_version();
        config.namespaces = {ns, ns + "2"};  // watchers of one group, and of several
        hosts.push_back(std::make_unique<Host>(sim.context.get_executor(), config));
        hosts.back()->run();
    }
    sim.advance(5s);
    std::set<TimePoint> seconds;
    for (const auto& [path, times] : attempts) {
        REQUIRE(times.size() >= 2);
        seconds.insert(times[1]);
    }
    CHECK(attempts.size() == 10);
    CHECK(seconds.size() == 10);
}
