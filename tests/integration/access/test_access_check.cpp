#include "k8s_sd/access.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/full_executor.hpp"
#include "support/manual_clock.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Addresses = std::vector<asio::ip::address>;

/// Resolves names when the test decides, or at once.
class FakeResolver final : public Resolver {
 public:
    void async_resolve(const std::string&, Handler handler) override {
        if (silent) return waiting.push_back(std::move(handler));
        handler(ec, addresses);
    }
    bool silent = false;
    error_code ec;
    Addresses addresses{asio::ip::make_address("10.0.0.1")};
    std::vector<Handler> waiting;
};

/// A server, a context that connects to it, and one check.
struct Check {
    explicit Check(sim::ApiServerOptions options = {})
        : server(context.get_executor(), with_clock(std::move(options))) {
        config.api_server.url = server.url();
        Environment environment;
        environment.clock = clock;
        environment.connector = server.connector();
        environment.resolver = names;
        environment.file_calls = std::make_shared<sim::ManualFiles>();
        environment.seed = 1;
        install(context, environment);
    }
    sim::ApiServerOptions with_clock(sim::ApiServerOptions options) const {
        options.clock = clock;
        return options;
    }

    void start() {
        async_check_access(
            context.get_executor(), config,
            [this](const AccessCheckLine& line) {
                lines.push_back(line);
                if (after_line) after_line();
            },
            step_timeout,
            asio::bind_cancellation_slot(cancel.slot(), [this](error_code ec, bool fine) {
                ended = ec;
                all_fine = fine;
            }));
        settle(context);
    }
    void answer_lists_of_pods(const std::string& body) {
        server.set_intercept([body](const sim::Request& request) -> std::optional<sim::Response> {
            if (request.path != "/api/v1/pods" || request.is_watch()) return std::nullopt;
            sim::Response answer;
            answer.body = body;
            return answer;
        });
    }
    void advance(Duration time) {
        clock->advance(time);
        settle(context);
    }
    /// "ok configuration", "FAILED TCP" …
    std::vector<std::string> words() const {
        std::vector<std::string> texts;
        for (const AccessCheckLine& line : lines)
            texts.push_back(std::string(to_string(line.result)) + " " + line.step);
        return texts;
    }
    std::vector<std::string> failed() const {
        std::vector<std::string> steps;
        for (const AccessCheckLine& line : lines) {
            if (line.result == AccessCheckLine::Result::failed) steps.push_back(line.step);
        }
        return steps;
    }
    std::string text_of(const std::string& step) const {
        for (const AccessCheckLine& line : lines) {
            if (line.step == step) return line.text;
        }
        return "(no such step)";
    }

    asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<FakeResolver> names = std::make_shared<FakeResolver>();
    sim::ApiServer server;
    DiscoveryConfig config{.watch = plain_lists()};
    Duration step_timeout = 10s;
    std::vector<AccessCheckLine> lines;
    std::optional<error_code> ended;
    bool all_fine = false;
    asio::cancellation_signal cancel;
    std::function<void()> after_line;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Access check: where all is fine there is a line for each step") {
    Check c(sim::ApiServerOptions{.token = "good"});
    c.config.role = Role::endpointslice;
    c.config.api_server.auth.bearer_token = "good";
    c.start();
    CHECK(c.words() ==
          Texts{"ok configuration", "ok name lookup", "ok TCP", "ok credentials", "skipped TLS",
                "ok authentication", "ok list pods in all namespaces",
                "ok watch pods in all namespaces", "ok list services in all namespaces",
                "ok watch services in all namespaces",
                "ok list endpointslices (API group discovery.k8s.io) in all namespaces",
                "ok watch endpointslices (API group discovery.k8s.io) in all namespaces"});
    CHECK(c.ended == error_code());
    CHECK(c.all_fine);
    CHECK(contains(c.text_of("authentication"), "Kubernetes v1.32.0"));
    CHECK(c.text_of("credentials") == "an Authorization header");
    CHECK(contains(c.text_of("name lookup"), "sim.invalid is 10.0.0.1"));
    settle(c.context);
    CHECK(c.server.open_watches() == 0);
    CHECK(c.server.open_connections() == 0);
    CHECK(c.clock->next_expiry() == TimePoint::max());
    // The requests are real, and each is short.
    for (const auto& record : c.server.requests()) {
        const sim::Request& request = record.request;
        if (request.path == "/version") continue;
        CHECK((request.is_watch() ? request.param("timeoutSeconds") == "5"
                                  : request.param("limit") == "1"));
    }
}

TEST_CASE("Access check: an invalid configuration is reported as the first step") {
    Check c;
    c.config.api_server.url = "ftp://host";
    c.start();
    CHECK(c.words() == Texts{"FAILED configuration"});
    CHECK(c.ended == error_code());
    CHECK_FALSE(c.all_fine);
}

TEST_CASE("Access check: an unknown name, and a lookup without an answer") {
    Check c;
    const bool silent = GENERATE(false, true);
    c.names->silent = silent;
    c.names->ec = asio::error::host_not_found;
    c.start();
    if (silent) {
        CHECK_FALSE(c.ended);
        c.advance(10s);
    }
    CHECK(c.words() == Texts{"ok configuration", "FAILED name lookup"});
    CHECK(
        contains(c.text_of("name lookup"), silent ? "within 10 s" : "cannot resolve sim.invalid"));
    CHECK(c.ended == error_code());
    c.names->silent = false;
    for (const auto& late : c.names->waiting) late({}, {});
    settle(c.context);
    CHECK(c.lines.size() == 2);
}

TEST_CASE("Access check: a server that refuses connections") {
    Check c;
    c.server.accept_connections(false);
    c.start();
    CHECK(c.failed() == Texts{"TCP"});
    CHECK(contains(c.text_of("TCP"), "refused"));
    CHECK_FALSE(c.all_fine);
}

TEST_CASE("Access check: a token that the server does not know") {
    Check c(sim::ApiServerOptions{.token = "other"});
    c.config.api_server.auth.bearer_token = "s3cret-of-mine";
    c.start();
    CHECK(c.failed() == Texts{"authentication"});
    CHECK(contains(c.text_of("authentication"), "HTTP 401: Unauthorized"));
    CHECK(contains(c.text_of("authentication"), "check the credentials"));
    CHECK(c.lines.back().ec == errc::unauthorized);
    CHECK(c.ended == error_code());
    for (const AccessCheckLine& line : c.lines) CHECK_FALSE(contains(line.text, "s3cret"));
}

TEST_CASE("Access check: a token file that is not there") {
    Check c;
    c.config.api_server.auth.bearer_token_file = "/nonexistent/token";
    c.start();
    c.advance(0s);
    CHECK(c.failed() == Texts{"credentials"});
    CHECK(contains(c.text_of("credentials"), "/nonexistent/token"));
}

TEST_CASE("Access check: unsent credentials and the impersonated user are reported") {
    Check c;
    const TemporaryDirectory directory;
    c.config.kubeconfig_file = directory.write(
        "kc", "clusters: [{name: k, cluster: {server: '" + c.server.url() +
                  "'}}]\nusers: [{name: u, user: {token: sesame, as: jane}}]\ncontexts: [{name: c, "
                  "context: {cluster: k, user: u}}]\ncurrent-context: c\n");
    c.config.api_server = {};
    c.start();
    CHECK(c.text_of("credentials") ==
          "none: requests are anonymous; the server has a URL of http, so credentials of a "
          "kubeconfig are not sent; acts as jane");
}

TEST_CASE("Access check: each permission that is missing is named, with the rule to add") {
    Check c;
    c.config.role = Role::endpoints;
    c.config.namespaces = {"shop"};
    c.config.attach_metadata.node = true;
    const std::string what = GENERATE("all of one kind", "watches only", "in one namespace");
    c.server.set_intercept([what](const sim::Request& request) -> std::optional<sim::Response> {
        const bool services = contains(request.path, "services");
        const bool refused = what == "all of one kind" ? services
                             : what == "watches only"  ? request.is_watch()
                                                       : contains(request.path, "/shop/");
        if (!refused) return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "x is forbidden");
    });
    c.start();
    if (what == "all of one kind") {
        CHECK(c.failed() ==
              Texts{"list services in the namespace shop", "watch services in the namespace shop"});
        CHECK(contains(c.text_of(c.failed()[1]),
                       "grant it with a rule of a Role in the namespace shop: {apiGroups: [\"\"], "
                       "resources: [\"services\"], verbs: [\"list\", \"watch\"]}"));
    } else if (what == "watches only") {
        CHECK(c.failed().size() == 4);
        CHECK(contains(c.failed()[0], "watch "));
    } else {
        CHECK(c.failed().size() == 6);
        CHECK(c.words()[8] == "ok list nodes");
    }
    CHECK_FALSE(c.all_fine);
    CHECK(c.ended == error_code());
    CHECK(c.lines.size() == 6 + 8);
}

TEST_CASE("Access check: one watch of many namespaces need not be allowed") {
    Check c;
    c.config.namespaces = {"a", "b"};
    c.config.watch.cluster_wide_from = 2;
    const bool allowed = GENERATE(true, false);
    c.server.set_intercept([allowed](const sim::Request& request) -> std::optional<sim::Response> {
        if (allowed || request.path != "/api/v1/pods") return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "no");
    });
    c.start();
    CHECK(c.all_fine);
    const Texts words = c.words();
    const Texts permissions(words.begin() + 6, words.end());
    if (allowed) {
        CHECK(permissions ==
              Texts{"ok list pods in all namespaces", "ok watch pods in all namespaces"});
    } else {
        CHECK(permissions ==
              Texts{"skipped list pods in all namespaces", "ok list pods in the namespace a",
                    "ok watch pods in the namespace a", "ok list pods in the namespace b",
                    "ok watch pods in the namespace b"});
    }
}

TEST_CASE("Access check: the older version of an API is found as watches find it") {
    Check c;
    c.config.role = Role::ingress;
    c.server.set_served("ingresses", {"v1beta1"});
    c.start();
    CHECK(c.all_fine);
    CHECK(contains(c.lines.back().text, "v1beta1"));
    c.lines.clear();
    c.server.set_served("ingresses", {});
    c.start();
    CHECK_FALSE(c.all_fine);
    CHECK(c.failed().size() == 2);
    CHECK(contains(c.lines.back().text, "no such API"));
}

TEST_CASE("Access check: it says whether Gateway API is missing, or there in an older version") {
    Check c;
    c.config.role = Role::httproute;
    c.start();
    CHECK_FALSE(c.all_fine);
    REQUIRE(c.failed().size() == 4);
    CHECK(contains(c.lines.back().text,
                   "the server has no httproutes (API group gateway.networking.k8s.io) in version "
                   "v1 or v1beta1: install the definitions (CRDs) of Gateway API there, or do "
                   "without its roles"));
    c.lines.clear();
    sim::add_gateway_api(c.server, {"v1beta1"});
    c.start();
    CHECK(c.all_fine);
    CHECK(c.lines.back().text == "allowed; the server has v1beta1");
}

TEST_CASE("Access check: one unlucky 404 is no reason to look for an older version") {
    Check c;
    c.config.role = Role::ingress;
    c.server.set_served("ingresses", {"v1", "v1beta1"});
    c.server.fail_next(sim::Response::failure(404, "NotFound", "no such path"), 1,
                       "/apis/networking.k8s.io/v1/");
    c.start();
    CHECK_FALSE(c.all_fine);
    CHECK(c.failed().size() == 1);
    CHECK_FALSE(contains(c.lines.back().text, "v1beta1"));
}

TEST_CASE("Access check: a server that hangs costs one step") {
    Check c;
    const std::string where = GENERATE("/version", "/api/v1/pods");
    c.server.set_intercept([where](const sim::Request& request) -> std::optional<sim::Response> {
        return request.path == where ? std::optional(sim::Response::never()) : std::nullopt;
    });
    c.start();
    CHECK_FALSE(c.ended);
    c.advance(10s);
    CHECK(c.ended == error_code());
    CHECK(c.failed().size() == 1);
    CHECK(contains(c.lines.back().text, "10 s"));
    CHECK(c.lines.back().took == 10s);
    settle(c.context);
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("Access check: a server other than an API server is reported as such") {
    Check c;
    c.server.set_intercept([](const sim::Request&) -> std::optional<sim::Response> {
        sim::Response page;
        page.content_type = "text/html";
        page.body = "<html>";
        return page;
    });
    c.start();
    CHECK(c.failed() == Texts{"authentication"});
    CHECK(contains(c.lines.back().text, "is this the URL of a Kubernetes API server?"));
}

TEST_CASE("Access check: an unknown version is no failure") {
    Check c;
    const unsigned status = GENERATE(403U, 404U);
    c.server.fail_next(sim::Response::failure(status, "Reason", "no"), 1, "/version");
    c.start();
    CHECK(c.all_fine);
}

TEST_CASE("Access check: it can be cancelled in each step") {
    for (std::size_t lines = 1; lines < 8; ++lines) {
        Check c;
        c.after_line = [&] {
            if (c.lines.size() == lines) c.cancel.emit(asio::cancellation_type::terminal);
        };
        c.start();
        CHECK(c.lines.size() == lines);
        CHECK(c.ended == asio::error::operation_aborted);
        CHECK_FALSE(c.all_fine);
        settle(c.context);
        CHECK(c.server.open_connections() == 0);
        CHECK(c.clock->next_expiry() == TimePoint::max());
    }
}

TEST_CASE("Access check: a context may end before it") {
    for (const std::string hanging : {"name", "/version", "/api/v1/pods"}) {
        auto c = std::make_unique<Check>();
        c->names->silent = hanging == "name";
        c->server.set_intercept([hanging](const sim::Request& request) {
            return request.path == hanging ? std::optional(sim::Response::never()) : std::nullopt;
        });
        c->start();
        CHECK_FALSE(c->ended);
        const auto names = c->names;
        c.reset();
        for (const auto& late : names->waiting) late({}, {});
    }
}

TEST_CASE("Access check: an exception of the handler goes through run(), and the check goes on") {
    Check c;
    c.after_line = [&] {
        if (c.lines.size() == 2) throw std::runtime_error("of the host");
    };
    CHECK_THROWS_AS(c.start(), std::runtime_error);
    c.after_line = {};
    settle(c.context);
    CHECK(c.all_fine);
}

TEST_CASE("Access check: an executor and a function are needed") {
    Check c;
    const auto begin = [](const asio::any_io_executor& executor, AccessCheckHandler on_line) {
        async_check_access(executor, {}, std::move(on_line), 1s, [](error_code, bool) {});
    };
    CHECK_THROWS_AS(begin({}, [](const AccessCheckLine&) {}), ConfigError);
    CHECK_THROWS_AS(begin(c.context.get_executor(), {}), ConfigError);
}

TEST_CASE("Access check: a list that begins well and is none has failed") {
    Check c;
    const std::string body = GENERATE(R"({"kind": "PodList", "items": [{"metadata")", "[]",
                                      R"({"kind": "NodeList", "metadata": {}, "items": []})");
    c.answer_lists_of_pods(body);
    c.start();
    CHECK(c.failed() == Texts{"list pods in all namespaces"});
    CHECK_FALSE(c.all_fine);
}

TEST_CASE("Access check: of a list that ignores the limit the first 8 MiB are enough") {
    Check c;
    std::string body = R"({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": [)";
    const std::string padding(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 9; ++i) {
        body += std::string(i == 0 ? "" : ",") + R"({"metadata": {"name": "p)" + std::to_string(i) +
                R"(", "namespace": "n", "annotations": {"a": ")" + padding + R"("}}})";
    }
    body += "this is never read";
    c.answer_lists_of_pods(body);
    c.start();
    CHECK(c.failed().empty());
    CHECK(c.all_fine);
}

TEST_CASE("Access check: a watch that need not be allowed may not fail otherwise") {
    Check c;
    c.config.namespaces = {"a", "b"};
    c.config.watch.cluster_wide_from = 2;
    const unsigned status = GENERATE(401U, 429U, 404U);
    c.server.set_intercept([status](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.path != "/api/v1/pods") return std::nullopt;
        return sim::Response::failure(status, "Whatever", "no");
    });
    c.start();
    CHECK(c.all_fine == (status == 404));
    if (status == 404) CHECK(contains(c.text_of("list pods in all namespaces"), "HTTP 404"));
}

TEST_CASE("Access check: a server that keeps its version from the anonymous is not called open") {
    Check c;
    c.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.path != "/version") return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "no");
    });
    c.start();
    CHECK(c.text_of("authentication") == "the server accepts anonymous requests");
}

TEST_CASE("Access check: the question for versions is a part of the step") {
    Check c;
    c.config.role = Role::ingress;
    c.server.set_served("ingresses", {});
    c.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        const bool versions = request.path == "/apis/networking.k8s.io/v1";
        return versions ? std::optional(sim::Response::never()) : std::nullopt;
    });
    c.step_timeout = 500ms;
    c.start();
    CHECK_FALSE(c.ended);
    c.advance(500ms);
    CHECK(c.ended == error_code());
    CHECK(c.failed().size() == 1);
    CHECK(contains(c.lines.back().text, "no response within 0.5 s; the server does not list the"));
}

TEST_CASE("Access check: credentials that were replaced meanwhile are taken, as watches do") {
    const TemporaryDirectory directory;
    Check c(sim::ApiServerOptions{.token = "new"});
    c.config.api_server.auth.bearer_token_file = directory.write("token", "old");
    c.after_line = [&] {
        if (c.lines.back().step == "credentials") directory.write("token", "new");
    };
    c.start();
    CHECK(c.all_fine);
    CHECK(c.failed().empty());
}

TEST_CASE("Access check: headers are credentials as well") {
    Check c;
    c.config.api_server.headers = {{"X-Key", "sesame", ""}};
    c.start();
    CHECK(c.text_of("credentials") == "headers of the configuration");
    CHECK(contains(c.text_of("authentication"), "does not refuse the credentials"));
}

TEST_CASE("Access check: a server that refuses ever new credentials is asked twice a step") {
    const TemporaryDirectory directory;
    Check c;
    c.config.api_server.auth.bearer_token_file = directory.write("token", "token-0");
    int asked = 0;
    c.server.set_intercept([&](const sim::Request&) -> std::optional<sim::Response> {
        directory.write("token", "token-" + std::to_string(++asked));
        return sim::Response::failure(401, "Unauthorized", "no");
    });
    c.start();
    CHECK(c.failed() == Texts{"authentication"});
    CHECK(asked == 2);
    CHECK(c.ended == error_code());
}

TEST_CASE("async_check_access: without memory to continue, the exception leaves through run()") {
    Check check;
    bool full = false;
    const FullExecutor host{&check.context, &full};
    const auto note = [&](const AccessCheckLine& line) {
        check.lines.push_back(line);
        full = true;
    };
    const auto end = [&](error_code ec, bool) { check.ended = ec; };
    async_check_access(host, check.config, note, check.step_timeout,
                       asio::bind_cancellation_slot(check.cancel.slot(), end));
    CHECK_THROWS_AS(settle(check.context), std::bad_alloc);
    CHECK(check.lines.size() == 1);
}
