#include "k8s_sd/sim/gateway_api.hpp"
#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

// Streamed lists and compressed lists of the simulated server.

namespace {

using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

const std::string streamed = "WATCH /api/v1/pods from ";

/// A server with the pods a, b and c, and a watcher with the default options.
struct Watched : Simulation {
    explicit Watched(sim::ApiServerOptions server_options = {}, WatchOptions options = {})
        : Simulation(std::move(server_options)) {
        for (const char* name : {"a", "b", "c"}) version = server.apply(pod({.name = name}));
        probe.emplace(*this, WatchQuery{}, options);
        probe->start();
    }
    /// The watch ends, its version expires, and b is deleted.
    void expire() {
        server.end_watches();
        settle();
        server.remove("pods", "default", "b");
        server.fail_next(Response::failure(410, "Expired", "too old resource version"));
        advance(1s);
    }
    std::string version;
    std::optional<WatchProbe> probe;
};

}  // namespace

TEST_CASE("Watch-lists: one request lists, and then watches") {
    Watched w;
    CHECK(w.take_requests() == Texts{streamed});
    CHECK(w.probe->names() == Names{"a", "b", "c"});
    CHECK(w.probe->synced == 1);
    CHECK(w.probe->at_sync == 3);
    CHECK(w.probe->status().streamed_lists == 1);
    CHECK(w.probe->status().waiting == Waiting::events);
    CHECK(w.metrics->of(Kind::pod).lists == 1);
    CHECK(w.metrics->of(Kind::pod).streamed_lists == 1);
    CHECK(w.metrics->of(Kind::pod).watches == 1);
    w.probe->take_changes();
    w.server.apply(pod({.name = "d"}));
    w.settle();
    CHECK(w.probe->take_changes() == "+d");
    CHECK(w.take_requests().empty());
    CHECK(w.take_log().empty());
}

TEST_CASE("Watch-lists: the watch that follows begins where the stream ended") {
    Watched w;
    const std::string version = w.server.apply(pod({.name = "d"}));
    w.settle();
    w.take_requests();
    w.advance(1min);  // a watch that ends at once is reopened after a pause
    w.server.end_watches();
    w.advance(1s);
    const auto requests = w.server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].request.param("resourceVersion") == version);
    CHECK(requests[0].request.param("sendInitialEvents").empty());
}

TEST_CASE("Watch-lists: a list after an expired version brings the differences only") {
    Watched w;
    w.advance(1min);
    w.probe->take_changes();
    w.take_requests();
    w.expire();
    CHECK(w.probe->take_changes() == "-b");
    CHECK(w.probe->status().lists[static_cast<std::size_t>(ListReason::expired)] == 1);
    CHECK(w.probe->status().streamed_lists == 2);
}

TEST_CASE("Watch-lists: a server that refuses is sent a LIST at once, and not asked again") {
    sim::ApiServerOptions options;
    options.watch_list = false;
    Watched w(options);
    const Texts requests = w.take_requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[0] == streamed);
    CHECK(requests[1] == "LIST /api/v1/pods?limit=500");
    CHECK(requests[2] == "WATCH /api/v1/pods from " + w.version);
    CHECK(requests[3] == "LIST /version");
    CHECK(w.probe->names() == Names{"a", "b", "c"});
    CHECK(w.probe->status().streamed_lists == 0);
    CHECK(w.take_log().empty());
    w.advance(1min);
    w.take_requests();
    w.expire();
    for (const std::string& request : w.take_requests()) CHECK(request != streamed);
    CHECK(w.probe->names() == Names{"a", "c"});
}

TEST_CASE("Watch-lists: a server that never marks the end of the list is sent a LIST in time") {
    sim::ApiServerOptions options;
    options.initial_events_end = false;
    Watched w(options);
    CHECK(w.probe->names() == Names{"a", "b", "c"});
    CHECK(w.probe->synced == 0);
    w.advance(31s);
    CHECK(w.probe->synced == 1);
    CHECK(w.probe->status().streamed_lists == 0);
    CHECK_FALSE(w.probe->status().error);
}

TEST_CASE("Watch-lists: a server that ignores the parameter is sent a LIST in time") {
    sim::ApiServerOptions options;
    options.ignore_initial_events = true;
    Watched w(options);
    CHECK(w.probe->synced == 0);
    w.advance(31s);
    CHECK(w.probe->synced == 1);
    CHECK(w.probe->names() == Names{"a", "b", "c"});
}

TEST_CASE("Watch-lists: of every kind, in both encodings") {
    for (std::size_t i = 0; i < kind_count; ++i) {
        for (const bool protobuf : {true, false}) {
            CAPTURE(i, protobuf);
            Simulation sim;
            sim::add_gateway_api(sim.server);
            WatchOptions options;
            options.protobuf = protobuf;
            WatchProbe probe(sim, {static_cast<Kind>(i), {}, {}, {}}, options);
            probe.start();
            CHECK(probe.synced == 1);
            CHECK(probe.status().streamed_lists == 1);
            CHECK(sim.server.requests().size() == 1);
        }
    }
}

namespace {

WatchOptions with_gzip() {
    WatchOptions options;
    options.gzip = Compression::always;
    return options;
}

std::string coding_of(const sim::RequestRecord& record) {
    return std::string(record.request.header("accept-encoding").value_or(""));
}

}  // namespace

TEST_CASE("Compressed watch-lists: requested where compression pays, and read as they arrive") {
    Watched w({}, with_gzip());
    const auto requests = w.server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(coding_of(requests[0]) == "gzip");
    CHECK(w.probe->names() == Names{"a", "b", "c"});
    CHECK(w.probe->status().streamed_lists == 1);
    w.probe->take_changes();
    for (const char* name : {"d", "e"}) {
        w.server.apply(pod({.name = name}));
        w.settle();
        CHECK(w.probe->take_changes() == "+" + std::string(name));
    }
    // Bookmarks, too.
    w.advance(61s);
    CHECK(w.metrics->of(Kind::pod).bookmarks >= 2);
    CHECK(w.server.requests().size() == 1);
    CHECK(w.take_log().empty());
}

TEST_CASE("Compressed watch-lists: the watch behind one is not compressed") {
    Watched w({}, with_gzip());
    w.advance(1min);
    w.server.end_watches();
    w.advance(1s);
    const auto requests = w.server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(coding_of(requests[1]) == "identity");
    CHECK_FALSE(w.probe->status().error);
}

TEST_CASE("Compressed watch-lists: a compressed watch that breaks does not end compression") {
    Watched w({}, with_gzip());
    w.advance(1min);
    w.server.disconnect_all();
    w.advance(10s);
    w.server.clear_requests();
    w.expire();
    const auto requests = w.server.requests();
    REQUIRE_FALSE(requests.empty());
    CHECK(coding_of(requests.back()) == "gzip");
    CHECK(w.probe->status().streamed_lists == 2);
}

TEST_CASE("Compressed watch-lists: a server that sends one as it is gets compressed LISTs from "
          "then on") {
    sim::ApiServerOptions options;
    options.gzip_watch_lists = false;
    options.gzip_threshold = 0;
    Watched w(options, with_gzip());
    const auto requests = w.server.requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[0].request.is_watch());
    CHECK(coding_of(requests[0]) == "gzip");
    CHECK(requests[1].request.path == "/version");
    CHECK_FALSE(requests[2].request.is_watch());
    CHECK(coding_of(requests[2]) == "gzip");
    CHECK(requests[3].request.is_watch());
    CHECK(coding_of(requests[3]) == "identity");
    CHECK(w.probe->names() == Names{"a", "b", "c"});
    CHECK(w.probe->status().streamed_lists == 0);
    CHECK(w.probe->status().failures == 0);
    CHECK(w.take_log().empty());
    WatchProbe other(w, {Kind::service, {}, {}, {}}, with_gzip());
    w.server.clear_requests();
    w.advance(1min);
    w.expire();
    for (const std::string& request : w.take_requests()) CHECK(request != streamed);
    CHECK(w.probe->names() == Names{"a", "c"});
}

TEST_CASE("Compressed watch-lists: Secrets are not compressed") {
    Simulation sim;
    WatchProbe probe(sim, {Kind::secret, {}, {}, {}}, with_gzip());
    probe.start();
    REQUIRE(sim.server.requests().size() == 1);
    CHECK(coding_of(sim.server.requests()[0]) == "identity");
    CHECK(probe.status().streamed_lists == 1);
}

TEST_CASE("Compressed watch-lists: what does not arrive compressed is streamed as it is") {
    using Fault = sim::ApiServer::EncodingFault;
    const Fault fault = GENERATE(Fault::cut_gzip, Fault::garbage_after_gzip);
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    sim.server.set_encoding_fault(fault);
    WatchProbe probe(sim, {}, with_gzip());
    probe.start();
    sim.advance(5s);
    CHECK(probe.synced == 1);
    CHECK(probe.names() == Names{"a"});
    CHECK(probe.status().streamed_lists == 1);
    const auto requests = sim.server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(coding_of(requests[0]) == "gzip");
    CHECK(coding_of(requests[1]) == "identity");
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(probe.names() == Names{"a", "b"});
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("Compressed watch-lists: the content counts, and not Content-Encoding") {
    using Fault = sim::ApiServer::EncodingFault;
    const Fault fault = GENERATE(Fault::plain_gzip, Fault::hidden_gzip, Fault::gzip_members);
    sim::ApiServerOptions options;
    options.gzip_threshold = 0;
    Simulation sim(options);
    sim.server.apply(pod({.name = "a"}));
    sim.server.set_encoding_fault(fault);
    WatchProbe probe(sim, {}, with_gzip());
    probe.start();
    CHECK(probe.synced == 1);
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(probe.names() == Names{"a", "b"});
    CHECK_FALSE(probe.status().error);
    CHECK(sim.take_log().empty());
}

TEST_CASE("Compressed lists: one that is cut is asked for again as it is") {
    sim::ApiServerOptions server_options;
    server_options.gzip_threshold = 0;
    WatchOptions options = with_gzip();
    options.watch_list = false;
    Simulation sim(server_options);
    sim.server.apply(pod({.name = "a"}));
    sim.server.set_encoding_fault(sim::ApiServer::EncodingFault::cut_gzip);
    WatchProbe probe(sim, {}, options);
    probe.start();
    CHECK(probe.synced == 0);
    CHECK(probe.status().error == errc::truncated_response);
    sim.advance(5s);
    CHECK(probe.synced == 1);
    CHECK(probe.names() == Names{"a"});
}
