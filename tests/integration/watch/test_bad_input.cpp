#include "k8s_sd/config_yaml.hpp"
#include "support/certificates.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

namespace {

/// The error text of constructing a discoverer; "" on success.
std::string refusal(const DiscoveryConfig& config) {
    asio::io_context context;
    return config_error([&] { Discoverer(context.get_executor(), config, [](const auto&) {}); });
}

DiscoveryConfig valid() {
    DiscoveryConfig config;
    config.api_server.url = "http://sim.invalid";
    return config;
}

/// A host with two pods, and a single failure.
struct Trouble : Simulation {
    explicit Trouble(ApiServerConfig api_server = {}, const WatchOptions& watch = {}) {
        DiscoveryConfig config = valid();
        config.watch = watch;
        config.api_server.auth = api_server.auth;
        for (const char* name : {"a", "b"}) server.apply(pod({.name = name}));
        host.emplace(context.get_executor(), config);
    }
    void run() {
        host->run();
        advance(2s);
        REQUIRE(host->groups.size() == 2);
        server.disconnect_all();
    }
    DiscovererStatus status() const { return host->discoverer->status(); }
    std::uint64_t count(Metrics::Counter Metrics::PerKind::*counter) const {
        return metrics->of(Kind::pod).*counter;
    }
    /// While the cause persists: a status, one log line, a counter, and the targets stay.
    void check_trouble(error_code expected, const std::string& text,
                       Metrics::Counter Metrics::PerKind::*counter) {
        advance(90s);
        CHECK(status().error == expected);
        CHECK(contains(status().message, "http://sim.invalid/api/v1/pods: "));
        CHECK(contains(status().message, text));
        const std::vector<std::string> log = take_log();
        REQUIRE(log.size() == 1);
        CHECK(log[0] == status().message);
        CHECK(count(counter) >= 3);
        CHECK(count(counter) >= status().watches.at(0).failures);
        CHECK(host->diffs == 1);
        CHECK(host->groups.size() == 2);
        CHECK(status().synced);
    }
    /// Once the cause is gone, the watch recovers by itself.
    void check_recovery() {
        server.apply(pod({.name = "c"}));
        advance(90s);
        CHECK_FALSE(status().error);
        CHECK(status().message.empty());
        CHECK(host->groups.size() == 3);
        CHECK(host->complaints.empty());
        CHECK(take_log().size() == 1);
    }
    void answer_all(const Response& response) {
        server.set_intercept([response](const auto&) { return response; });
    }

    std::optional<Host> host;
};

/// Loopback sockets and real time, for tests of TLS.
struct RealServer {
    explicit RealServer(const sim::ApiServerOptions& options)
        : server(context.get_executor(), options) {
        Environment environment;
        environment.logger.write = [log = log_](LogLevel, std::string_view line) {
            log->emplace_back(line);
        };
        install(context, environment);
        server.apply(pod({.name = "a"}));
        config.api_server.url = "https://127.0.0.1:" + std::to_string(server.listen());
        config.watch.backoff_min = 5ms;
        config.watch.backoff_max = 20ms;
    }
    template <class Done>
    bool run_until(Done done) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!done() && std::chrono::steady_clock::now() < deadline) {
            context.restart();
            context.run_one_until(deadline);
        }
        return done();
    }
    const std::vector<std::string>& log() const { return *log_; }

    asio::io_context context;
    sim::ApiServer server;
    DiscoveryConfig config;

 private:
    std::shared_ptr<std::vector<std::string>> log_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace

// --- configurations ------------------------------------------------------------------------------

TEST_CASE("Bad input: a configuration that cannot work is refused when it is made") {
    DiscoveryConfig config = valid();
    SECTION("a server and a kubeconfig") {
        config.kubeconfig_file = "/etc/kube/config";
        CHECK(contains(refusal(config), "kubeconfig_file"));
        CHECK(contains(refusal(config), "api_server"));
    }
    SECTION("a label selector") {
        config.selectors = {{Role::pod, "app in (web", ""}};
        CHECK(contains(refusal(config), "selectors[0].label"));
    }
    SECTION("a field selector") {
        config.selectors = {{Role::pod, "", "spec.nodeName"}};
        CHECK(contains(refusal(config), "selectors[0].field"));
    }
    SECTION("a selector of a kind that is not watched") {
        config.selectors = {{Role::ingress, "app=web", ""}};
        CHECK(contains(refusal(config), "selectors[0].role"));
    }
    SECTION("a URL") {
        config.api_server.url = "ftp://server";
        CHECK(contains(refusal(config), "api_server.url"));
    }
    SECTION("a password in the URL") {
        config.api_server.url = "https://user:hunter2@server";
        CHECK(contains(refusal(config), "api_server.url"));
        CHECK_FALSE(contains(refusal(config), "hunter2"));
    }
    SECTION("two kinds of credentials") {
        config.api_server.auth = {.bearer_token = "hunter2", .bearer_token_file = "/f"};
        CHECK(contains(refusal(config), "bearer_token"));
        CHECK_FALSE(contains(refusal(config), "hunter2"));
    }
    SECTION("a kubeconfig that is not there") {
        config.api_server = {};
        config.kubeconfig_file = "/no/such/kubeconfig";
        CHECK(contains(refusal(config), "/no/such/kubeconfig"));
    }
    SECTION("no server, and no pod around us") {
        const ScopedVariable host("KUBERNETES_SERVICE_HOST", std::nullopt);
        config.api_server = {};
        CHECK(contains(refusal(config), "KUBERNETES_SERVICE_HOST"));
    }
    SECTION("limits") {
        config.watch.backoff_min = 0s;
        CHECK(contains(refusal(config), "watch.backoff_min"));
    }
    CHECK_FALSE(refusal(config).empty());
    CHECK(refusal(valid()).empty());
}

TEST_CASE("Bad input: a configuration in YAML says where it is wrong") {
    const auto error = [](const std::string& yaml) {
        return config_error([&] { parse_sd_config(yaml, LabelDialect::prometheus, "sd.yaml"); });
    };
    CHECK(contains(error("role: pods\n"), "sd.yaml:1: role"));
    // the message lists the accepted values
    CHECK(contains(error("role: pods\n"), "endpointslice"));
    CHECK(contains(error("role: pod\nnamespace:\n  names: [a]\n"), "sd.yaml:2: namespace"));
    CHECK(contains(error("role: pod\nselectors: [\n"), "sd.yaml:"));
    CHECK(contains(error("role: pod\napi_server: http://a\nkubeconfig_file: b\n"),
                   "kubeconfig_file"));
    CHECK(contains(error("role: pod\nselectors:\n- role: pod\n  label: 'a in ('\n"), "label"));
}

// --- the server ----------------------------------------------------------------------------------

TEST_CASE("Bad input: a server that cannot be reached") {
    Trouble t;
    t.run();
    t.server.accept_connections(false);
    t.check_trouble(asio::error::connection_refused, "onnection refused",
                    &Metrics::PerKind::network_errors);
    t.server.accept_connections(true);
    t.check_recovery();
}

TEST_CASE("Bad input: a token that has expired, until there is a new one") {
    TemporaryDirectory files;
    ApiServerConfig api_server;
    api_server.auth.bearer_token_file = files.write("token", "hunter1");
    Trouble t(api_server);
    t.server.set_token("hunter1");
    t.run();
    t.server.set_token("hunter2");
    t.check_trouble(errc::unauthorized, "check the credentials: they may be missing or expired",
                    &Metrics::PerKind::unauthorized);
    CHECK_FALSE(contains(t.status().message, "hunter"));
    files.write("token", "hunter2");
    t.check_recovery();
}

TEST_CASE("Bad input: a permission that is missing") {
    Trouble t;
    t.run();
    t.server.deny("pods");
    t.check_trouble(errc::forbidden,
                    " pods in all namespaces; grant it with a rule of a ClusterRole: {apiGroups: "
                    "[\"\"], resources: [\"pods\"]",
                    &Metrics::PerKind::forbidden);
    t.server.allow("pods");
    t.check_recovery();
}

TEST_CASE("Bad input: a path that the server does not have") {
    Trouble t;
    t.run();
    Response missing;
    missing.status = 404;
    missing.content_type = "text/plain; charset=utf-8";
    missing.body = "404 page not found\n";
    t.answer_all(missing);
    t.check_trouble(errc::not_found, "404 page not found; the server has no such API",
                    &Metrics::PerKind::not_found);
    t.server.set_intercept({});
    t.check_recovery();
}

TEST_CASE("Bad input: a web page instead of JSON") {
    Trouble t;
    t.run();
    Response page;
    page.content_type = "text/html";
    page.body = "<html><title>Please log in</title></html>";
    t.answer_all(page);
    t.check_trouble(errc::unexpected_content_type, "is this the URL of a Kubernetes API server?",
                    &Metrics::PerKind::malformed);
    t.server.set_intercept({});
    t.check_recovery();
}

TEST_CASE("Bad input: a list that ends in the middle") {
    Trouble t;
    t.run();
    t.server.compact();  // so that it has to list again
    t.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return Response::failure(410, "Expired", "too old");
        Response cut;
        cut.body = R"({"kind":"PodList","metadata":{"resourceVersion":"99"},"items":[)" +
                   boost::json::serialize(pod({.name = "a"})) + ",";
        cut.framing = Response::Framing::until_close;
        return cut;
    });
    t.advance(90s);
    CHECK(t.status().error == errc::truncated_response);
    CHECK(t.count(&Metrics::PerKind::network_errors) >= 3);
    CHECK(t.take_log().size() == 1);
    CHECK(t.host->groups.size() == 2);
    t.server.set_intercept({});
    t.check_recovery();
}

TEST_CASE("Bad input: an object of the wrong shape among good ones") {
    Trouble t({}, plain_lists());
    const std::string bad =
        R"({"metadata":{"name":"bad","namespace":"default"},"status":"broken"})";
    t.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return std::nullopt;
        Response list;
        list.body = R"({"kind":"PodList","metadata":{"resourceVersion":")" +
                    t.server.resource_version() + R"("},"items":[)" +
                    boost::json::serialize(pod({.name = "a"})) + "," + bad + "," +
                    boost::json::serialize(pod({.name = "b"})) + "]}";
        return list;
    });
    t.host->run();
    t.settle();
    CHECK(t.host->groups.size() == 2);
    CHECK(t.host->diffs == 1);
    CHECK_FALSE(t.status().error);
    CHECK(t.count(&Metrics::PerKind::bad_objects) == 1);
    const std::vector<std::string> log = t.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "default/bad"));
    CHECK(contains(log[0], "status"));  // the message names the position
    // The object is repaired.
    t.server.apply(pod({.name = "bad"}));
    t.settle();
    CHECK(t.host->groups.size() == 3);
    CHECK(t.host->complaints.empty());
}

TEST_CASE("Bad input: texts of the server do not break the log's lines") {
    Trouble t;
    t.run();
    t.answer_all(
        Response::failure(500, "InternalError", "first\nsecond\x1b[31m" + std::string(9000, 'x')));
    t.advance(2s);
    const std::vector<std::string> log = t.take_log();
    REQUIRE(log.size() == 1);
    for (const char c : log[0]) CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(log[0].size() < 1000);
}

// --- trust ---------------------------------------------------------------------------------------

TEST_CASE("Bad input: the certificate of another authority, until the file has the right one") {
    const CertificateAuthority right("right CA");
    const CertificateAuthority wrong("wrong CA");
    const Identity identity = right.server({"127.0.0.1"});
    TemporaryDirectory files;
    sim::ApiServerOptions options;
    options.tls_certificate = identity.certificate;
    options.tls_key = identity.key;
    RealServer real(options);
    real.config.api_server.tls.ca_file = files.write("ca.crt", wrong.certificate());
    Host host(real.context.get_executor(), real.config);
    host.run();
    REQUIRE(real.run_until([&] {
        const auto status = host.discoverer->status();
        return !status.watches.empty() && status.watches[0].failures >= 3;
    }));
    const DiscovererStatus status = host.discoverer->status();
    CHECK(status.error);
    CHECK(contains(status.message, "certificate"));
    CHECK(host.diffs == 0);
    CHECK(real.log().size() == 1);
    CHECK(metrics_of(real.context)->of(Kind::pod).network_errors >= 3);
    files.write("ca.crt", right.certificate());
    CHECK(real.run_until([&] { return host.diffs == 1; }));
    CHECK(host.groups.size() == 1);
    CHECK(real.log().size() == 2);
}

TEST_CASE("Bad input: plain HTTP where the server speaks TLS, and the other way round") {
    const CertificateAuthority authority;
    const Identity identity = authority.server({"127.0.0.1"});
    sim::ApiServerOptions options;
    const bool server_speaks_tls = GENERATE(true, false);
    if (server_speaks_tls) {
        options.tls_certificate = identity.certificate;
        options.tls_key = identity.key;
    }
    RealServer real(options);
    if (server_speaks_tls) real.config.api_server.url.erase(4, 1);  // https -> http
    if (!server_speaks_tls) real.config.api_server.tls.ca = authority.certificate();
    Host host(real.context.get_executor(), real.config);
    host.run();
    REQUIRE(real.run_until([&] { return host.discoverer->status().error.failed(); }));
    CHECK(host.discoverer->status().message.size() > 40);
    CHECK(host.diffs == 0);
}
