// Known misbehaviour of servers and of gateways in front of them, one by one.

#include "integration/watch/url_watcher_faults.hpp"
#include "k8s_sd/detail/base/http2_support.hpp"
#include "support/certificates.hpp"
#include "support/contains.hpp"
#include "support/plain_lists.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

namespace url_watcher_matrix_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

std::size_t count(const Texts& requests, std::string_view start) {
    return static_cast<std::size_t>(
        std::count_if(requests.begin(), requests.end(),
                      [&](const std::string& text) { return text.starts_with(start); }));
}

std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string pod_json(const std::string& name, const std::string& version,
                     const std::string& more = {}) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","namespace":"default","uid":"uid-)" + name + R"(","resourceVersion":")" + version +
           "\"" + more + R"(},"status":{"phase":"Running","podIP":"10.0.0.9"}})";
}

std::string annotation(std::size_t size) {
    return R"(,"annotations":{"long":")" + std::string(size, 'a') + "\"}";
}
std::string managed_fields(std::size_t size) {
    return R"(,"managedFields":[{"manager":")" + std::string(size, 'm') + R"("}])";
}

/// Counts the connections made through another connector.
class CountingConnector final : public Connector {
 public:
    CountingConnector(std::shared_ptr<Connector> inner, std::size_t& connections)
        : inner_(std::move(inner)), connections_(connections) {}
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        ++connections_;
        return inner_->make_stream(std::move(executor), target);
    }

 private:
    std::shared_ptr<Connector> inner_;
    std::size_t& connections_;
};

/// Constructed before the simulation, and destroyed after it: the connector counts in it.
struct WithConnections {
    std::size_t connections = 0;
};

struct Counted : WithConnections, Simulation {
    explicit Counted(sim::ApiServerOptions server_options = {},
                     WatchOptions options = plain_lists())
        : Simulation(std::move(server_options), {}, {}, [this](const Environment& environment) {
              return std::make_shared<CountingConnector>(environment.connector, connections);
          }) {
        server.apply(pod({.name = "a"}));
        probe.emplace(*this, WatchQuery{}, options);
    }
    std::optional<WatchProbe> probe;
};

/// Sets an environment variable of the process during its lifetime.
class EnvironmentVariable {
 public:
    EnvironmentVariable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value, 1);
    }
    ~EnvironmentVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
    EnvironmentVariable(const EnvironmentVariable&) = delete;
    EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
    const char* name_;
    std::optional<std::string> before_;
};

/// A watcher of a server listening on 127.0.0.1; time is real.
struct OverSockets final : private WatchObserver {
    explicit OverSockets(sim::ApiServerOptions options = {})
        : server(context.get_executor(), std::move(options)) {
        server.listen();
        server.apply(pod({.name = "a"}));
    }
    void start(ApiServerConfig config = {}) {
        config.url = server.url();
        Environment environment;
        environment.logger.write = [](LogLevel, std::string_view) {};
        client = std::make_shared<ApiClient>(context.get_executor(), config, environment);
        watcher.emplace(client, WatchQuery{}, plain_lists(), static_cast<WatchObserver&>(*this));
        watcher->start();
    }
    template <class Done>
    bool run_until(Done done) {
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!done()) {
            context.restart();
            if (context.run_one_until(deadline) == 0) return false;
        }
        return true;
    }
    bool has(const std::string& name) const {
        bool found = false;
        watcher->for_each([&](const ObjectPtr& object) { found |= object->name() == name; });
        return found;
    }

    boost::asio::io_context context;
    sim::ApiServer server;
    std::shared_ptr<ApiClient> client;
    std::optional<URLWatcher> watcher;
    int synced = 0;

 private:
    void on_change(const ObjectChange&) override {}
    void on_synced() override { ++synced; }
    void on_batch_end() override {}
    void on_status() override {}
};

}  // namespace

// --- sizes ---------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: events of 2 and 20 MiB arrive, as far as they can be kept") {
    Faults f;
    f.start();
    for (const std::size_t mib : {2U, 20U}) {
        const std::size_t size = mib << 20;
        f.server.send_to_watches("pods", event("ADDED", pod_json("skipped" + std::to_string(mib),
                                                                 "900", managed_fields(size))));
        f.advance(100ms);
        CHECK(f.probe.take_changes() == "+skipped" + std::to_string(mib));
    }
    f.server.send_to_watches("pods", event("ADDED", pod_json("kept", "901", annotation(2 << 20))));
    f.advance(100ms);
    CHECK(f.probe.take_changes() == "+kept");
    f.server.send_to_watches("pods", event("ADDED", pod_json("huge", "902", annotation(20 << 20))) +
                                         event("ADDED", pod_json("next", "903")));
    f.advance(100ms);
    CHECK(f.probe.take_changes() == "+next");
    CHECK(f.counters().bad_objects == 1);
    CHECK(f.take_requests().empty());
    CHECK(f.probe.status().resource_version == "903");
}

TEST_CASE("URLWatcher: a list of more than 8 MiB is read") {
    Faults f;
    std::string items;
    for (int i = 0; i < 100; ++i) {
        if (i > 0) items += ',';
        items += pod_json("p" + std::to_string(i), "5", managed_fields(100'000));
    }
    Response list = body(list_of(items));
    REQUIRE(list.body.size() > 9'000'000);
    list.framing = GENERATE(Response::Framing::content_length, Response::Framing::chunked,
                            Response::Framing::until_close);
    f.server.fail_next(list);
    f.probe.start();
    CHECK(f.probe.names().size() == 100);
    CHECK(f.probe.synced == 1);
}

TEST_CASE("URLWatcher: of a relist of 10 000 objects only the differences are changes") {
    Simulation sim;
    const auto apply = [&](int i, const std::string& label) {
        sim.server.apply(pod({.name = "p" + std::to_string(i), .labels = {{"v", label}}}));
    };
    for (int i = 0; i < 10'000; ++i) apply(i, "1");
    WatchProbe probe(sim);
    probe.start();
    REQUIRE(probe.names().size() == 10'000);
    const auto relist = [&](auto&& meanwhile) {
        probe.take_changes();
        sim.take_requests();
        sim.advance(600s);  // the previous list was long ago
        sim.server.end_watches();
        sim.settle();
        meanwhile();
        sim.server.fail_next(Response::failure(410, "Expired", "too old"));
        sim.advance(5s);
        CHECK(count(sim.take_requests(), "LIST") == 1);
        return probe.take_changes();
    };
    CHECK(relist([] {}).empty());
    const std::string changes = relist([&] {
        for (int i = 0; i < 100; ++i) apply(i * 100, "2");
        sim.server.remove("pods", "default", "p7");
        sim.server.apply(pod({.name = "new"}));
    });
    CHECK(std::count(changes.begin(), changes.end(), '~') == 100);
    CHECK(std::count(changes.begin(), changes.end(), '-') == 1);
    CHECK(std::count(changes.begin(), changes.end(), '+') == 1);
    CHECK(contains(changes, "~p9900"));
    CHECK(contains(changes, "-p7"));
    CHECK(contains(changes, "+new"));
}

// --- error responses ----------------------------------------------------------------------------

TEST_CASE(
    "URLWatcher: a 504 for a version from the future is no reason to wait, though it says so") {
    const std::string start = R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":504,)"
                              R"("reason":"Timeout")";
    const std::string status = GENERATE_COPY(
        start + R"(,"message":"Timeout: Too large resource version: 9, current: 5","details":{)"
                R"("causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource )"
                R"(version"}],"retryAfterSeconds":1}})",
        start + R"(,"message":"x","details":{"causes":[{"message":"Too large resource version"}],)"
                R"("retryAfterSeconds":1}})",
        start + R"(,"message":"Too large resource version: 9, current: 5"})");
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    Response future = body(status);
    future.status = 504;
    future.headers.emplace_back("Retry-After", "1");
    f.server.fail_next(future);
    f.advance(200ms);
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0] == "WATCH /api/v1/pods from " + f.version);
    CHECK(requests[1] == "LIST /api/v1/pods?limit=500");
    CHECK(requests[2] == "WATCH /api/v1/pods from " + f.version);
    CHECK(f.probe.take_changes().empty());
    f.check_recovered();
}

TEST_CASE("URLWatcher: a 429 in plain text is waited for, and nothing is listed again") {
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    Response busy = body("Too many requests, please try again later.\n", "text/plain");
    busy.status = 429;
    busy.headers.emplace_back("Retry-After", "1");
    f.server.fail_next(busy, 3);
    f.advance(200ms);
    CHECK(f.probe.status().error == errc::too_many_requests);
    CHECK(contains(f.probe.status().message, "please try again later."));
    f.advance(60s);
    const Texts requests = f.take_requests();
    CHECK(requests.size() == 4);
    CHECK(count(requests, "WATCH") == requests.size());
    CHECK_FALSE(f.probe.status().error);
    f.check_recovered();
}

TEST_CASE("URLWatcher: an empty page with a token is not the end of the list") {
    Faults f;
    f.server.set_intercept([](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return std::nullopt;
        const std::string_view token = request.param("continue");
        if (token.empty()) return body(list_of(pod_json("one", "5"), "900", R"(,"continue":"t1")"));
        if (token == "t1") return body(list_of("", "900", R"(,"continue":"t2")"));
        return body(list_of(pod_json("two", "5"), "900"));
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"one", "two"});
    CHECK(f.probe.synced == 1);
    CHECK(f.probe.at_sync == 2);
}

TEST_CASE("URLWatcher: the inconsistent token of an expired list is not used") {
    WatchOptions options = plain_lists();
    options.page_size = 1;
    Faults f(options);
    f.server.set_intercept([](const sim::Request& request) -> std::optional<Response> {
        if (request.param("continue").empty()) return std::nullopt;
        Response gone = body(R"({"kind":"Status","apiVersion":"v1","metadata":{"continue":)"
                             R"("inconsistent"},"status":"Failure","reason":"Expired","code":410,)"
                             R"("message":"The provided continue parameter is too old"})");
        gone.status = 410;
        return gone;
    });
    f.probe.start();
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[0] == "LIST /api/v1/pods?limit=1");
    CHECK(contains(requests[1], "continue="));
    CHECK(requests[2] == "LIST /api/v1/pods");
    CHECK(requests[3].starts_with("WATCH"));
    for (const std::string& request : requests) CHECK_FALSE(contains(request, "inconsistent"));
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.probe.synced == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: an ERROR event whose code is missing or in quotes is understood") {
    const std::string status =
        GENERATE(R"({"kind":"Status","reason":"Expired","message":"too old resource version"})",
                 R"({"kind":"Status","reason":"Gone"})", R"({"kind":"Status","code":"410"})");
    Faults f;
    f.start();
    f.server.send_to_watches("pods", event("ERROR", status));
    f.advance(100ms);
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].starts_with("LIST"));
    CHECK(requests[1].starts_with("WATCH"));
    CHECK(f.counters().expired == 1);
    CHECK(f.take_log().empty());
    f.check_recovered();
}

// --- contents ------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a list of another kind shows none of its items and says what it is") {
    Faults f;
    f.start();
    const std::string item =
        R"({"metadata":{"name":"ghost","namespace":"default","resourceVersion":"5"}})";
    const std::string named = R"({"apiVersion":"v1","kind":"Service",)" + item.substr(1);
    const std::string list = GENERATE_COPY(
        R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"900"},"items":[)" +
            item + "]}",
        R"({"apiVersion":"v1","items":[)" + named +
            R"(],"kind":"ServiceList","metadata":{"resourceVersion":"900"}})");
    f.server.end_watches();
    f.settle();
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    f.server.fail_next(body(list));
    f.advance(200ms);
    CHECK(f.probe.take_changes().empty());
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.probe.status().error == errc::malformed_response);
    CHECK(contains(f.probe.status().message, "ServiceList instead of PodList"));
    CHECK(contains(f.probe.status().message, "is the path in the server's URL right?"));
    f.check_recovered();
}

TEST_CASE("URLWatcher: objects of another kind on a watch are skipped, and move no version") {
    Faults f;
    f.start();
    const std::string service =
        R"({"kind":"Service","metadata":{"name":"ghost","namespace":"default",)"
        R"("resourceVersion":"900"}})";
    for (const char* type : {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}) {
        f.server.send_to_watches("pods", event(type, service));
    }
    f.advance(1s);
    CHECK(f.probe.take_changes().empty());
    CHECK(f.probe.status().resource_version == f.version);
    CHECK(f.counters().bad_objects == 4);
    CHECK_FALSE(f.probe.status().error);
    f.check_recovered();
}

TEST_CASE("URLWatcher: a list may have its items before its kind and metadata") {
    Faults f;
    f.server.fail_next(body(R"({"apiVersion":"v1","items":[)" + pod_json("x", "5") +
                            R"(],"kind":"PodList","metadata":{"resourceVersion":"900"}})"));
    f.probe.start();
    CHECK(f.probe.names() == Names{"x"});
    CHECK(f.probe.synced == 1);
    CHECK(f.take_requests().back() == "WATCH /api/v1/pods from 900");
}

TEST_CASE("URLWatcher: unknown types of events and unknown fields are passed over") {
    Faults f;
    f.start();
    f.server.send_to_watches(
        "pods", event("RESTORED", pod_json("x", "900")) + R"({"new":[{"a":1}],)" +
                    event("ADDED", pod_json("y", "901", R"(,"new":{"deep":[[null]]})")).substr(1));
    f.advance(100ms);
    CHECK(f.probe.take_changes() == "+y");
    CHECK(f.counters().bad_objects == 1);
    CHECK_FALSE(f.probe.status().error);
    CHECK(f.take_requests().empty());
}

TEST_CASE("URLWatcher: objects that were deleted at one version are all gone") {
    Faults f;
    f.server.apply(pod({.name = "c"}));
    f.start();
    std::string events;
    for (const char* name : {"a", "b", "c"}) events += event("DELETED", pod_json(name, "900"));
    f.server.send_to_watches("pods", events);
    f.advance(100ms);
    CHECK(f.probe.take_changes() == "-a -b -c");
    CHECK(f.probe.names().empty());
    CHECK(f.probe.status().resource_version == "900");
}

// --- requests and connections --------------------------------------------------------------------

TEST_CASE("URLWatcher: watches do not ask for compression") {
    Faults f;
    f.start();
    f.server.end_watches();
    f.advance(1s);
    const auto requests = f.server.requests();
    REQUIRE_FALSE(requests.empty());
    for (const auto& record : requests) {
        REQUIRE(record.request.is_watch());
        CHECK(record.request.header("Accept-Encoding") == "identity");
    }
}

TEST_CASE("URLWatcher: each watch after a pause has a connection of its own") {
    Counted c;
    c.probe->start();
    c.advance(2s);
    const std::size_t before = c.connections;
    for (std::size_t i = 1; i <= 10; ++i) {
        c.server.end_watches();
        c.advance(5s);
        CHECK(c.connections == before + i);
        CHECK(c.server.open_connections() == 1);
    }
}

TEST_CASE("URLWatcher: proxies of the environment are not used") {
    const char* const closed_port = "http://127.0.0.1:1";
    const EnvironmentVariable proxies[] = {
        {"HTTP_PROXY", closed_port},  {"http_proxy", closed_port}, {"HTTPS_PROXY", closed_port},
        {"https_proxy", closed_port}, {"ALL_PROXY", closed_port},  {"all_proxy", closed_port}};
    const bool tls = GENERATE(false, true);
    sim::ApiServerOptions options;
    ApiServerConfig config;
    if (tls) {
        const CertificateAuthority ca;
        const Identity identity = ca.server({"127.0.0.1"});
        options.tls_certificate = identity.certificate;
        options.tls_key = identity.key;
        config.tls.ca = ca.certificate();
    }
    OverSockets s(options);
    s.start(config);
    CHECK(s.run_until([&] { return s.synced == 1; }));
    CHECK(s.has("a"));
}

TEST_CASE("URLWatcher: a complete list counts, even if TLS ends without a good-bye") {
    const CertificateAuthority ca;
    const Identity identity = ca.server({"127.0.0.1"});
    sim::ApiServerOptions options;
    options.tls_certificate = identity.certificate;
    options.tls_key = identity.key;
    OverSockets s(options);
    Response list = body(list_of(pod_json("x", "5")));
    list.framing = GENERATE(Response::Framing::content_length, Response::Framing::chunked,
                            Response::Framing::until_close);
    const bool cut = GENERATE(false, true);
    if (cut) list.cut_after = list.body.size() - 3;
    s.server.fail_next(list);
    ApiServerConfig config;
    config.tls.ca = ca.certificate();
    s.start(config);
    CHECK(s.run_until([&] { return s.synced == 1; }));
    CHECK(s.has("x") == !cut);  // the list after the cut one is correct
    CHECK(s.has("a") == cut);
}

TEST_CASE("URLWatcher: HTTP/2 over TLS brings large lists and events, if the server offers it") {
    const CertificateAuthority ca;
    const Identity identity = ca.server({"127.0.0.1"});
    sim::ApiServerOptions options;
    options.tls_certificate = identity.certificate;
    options.tls_key = identity.key;
    options.http2 = GENERATE(true, false);
    OverSockets s(options);
    for (int i = 0; i < 60; ++i) {
        s.server.apply(pod_json("large-" + std::to_string(i), "", annotation(4000)));
    }
    ApiServerConfig config;
    config.tls.ca = ca.certificate();
    config.http_version = HttpVersion::http2;
    s.start(config);
    CHECK(s.run_until([&] { return s.synced == 1 && s.server.open_watches() == 1; }));
    CHECK(s.has("large-59"));
    CHECK(s.watcher->size() == 61);
    s.server.apply(pod({.name = "late"}));
    CHECK(s.run_until([&] { return s.has("late"); }));
    const bool by_http2 = options.http2 && detail::has_http2();
    CHECK(s.watcher->status().http_version == (by_http2 ? 2 : 1));
    CHECK(s.server.http2_connections() == (by_http2 ? 1 : 0));
}

// --- over time -----------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a gateway that cuts every watch after 50 seconds costs no list") {
    const bool bookmarks = GENERATE(true, false);
    sim::ApiServerOptions server_options;
    server_options.bookmarks = bookmarks;
    server_options.bookmark_interval = 20s;
    Counted c(server_options);
    c.probe->start();
    c.advance(1s);
    c.take_requests();
    for (int i = 0; i < 100; ++i) {
        c.advance(50s);
        c.server.end_watches();
    }
    const Texts requests = c.take_requests();
    // Without any sign of life, a list verifies four times an hour that no event was missed.
    CHECK(count(requests, "LIST") <= (bookmarks ? 0 : 100 * 50 / 900));
    CHECK(count(requests, "WATCH") >= 95);
    CHECK(requests.size() <= 110);
    CHECK_FALSE(c.probe->status().error);
    CHECK(c.take_log().empty());
    c.server.apply(pod({.name = "late"}));
    c.advance(1s);
    CHECK(c.probe->names().contains("late"));
}

TEST_CASE("URLWatcher: a server that ends watches with events in them is followed without lists") {
    const Duration each = GENERATE(Duration(100ms), Duration(2s));
    CAPTURE(each.count());
    Counted c;
    c.probe->start();
    c.advance(2s);
    c.take_requests();
    const int rounds = 300;
    for (int i = 0; i < rounds; ++i) {
        c.server.apply(pod({.name = "a", .labels = {{"round", std::to_string(i)}}}));
        c.settle();
        c.server.end_watches();
        c.advance(each);
    }
    const Texts requests = c.take_requests();
    CHECK(count(requests, "LIST") == 0);
    // Either the watch stays open for a second, or a pause follows.
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(each * rounds).count();
    CHECK(requests.size() <= static_cast<std::size_t>(seconds) * 5 / 4 + 5);
    CHECK_FALSE(c.probe->status().error);
    c.advance(10s);
    CHECK(c.probe->take_changes().ends_with("~a"));
    c.server.apply(pod({.name = "late"}));
    c.advance(1s);
    CHECK(c.probe->names().contains("late"));
}

TEST_CASE("URLWatcher: a server that refuses connections for an hour is found when it is back") {
    Counted c;
    c.probe->start();
    c.advance(2s);
    c.take_requests();
    const std::size_t before = c.connections;
    c.server.accept_connections(false);
    c.server.disconnect_all();
    c.advance(1h);
    const std::size_t attempts = c.connections - before;
    CHECK(attempts >= 60);
    CHECK(attempts <= 150);
    CHECK(c.probe->status().error);
    CHECK(c.probe->names() == Names{"a"});
    CHECK(c.take_log().size() == 1);
    CHECK(c.take_requests().empty());
    c.server.accept_connections(true);
    c.server.apply(pod({.name = "late"}));
    c.advance(70s);
    CHECK(c.probe->names() == Names{"a", "late"});
    CHECK_FALSE(c.probe->status().error);
    CHECK(c.server.open_connections() == 1);
}

}  // namespace url_watcher_matrix_tests
