#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/parse.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Request;
using sim::Response;

// Lists and watches without managedFields (KEP-5958).

namespace {

using Names = std::set<std::string>;

bool drops(const Request& request) {
    return request.header("Accept")->find(";drop=metadata.managedFields") != std::string::npos;
}

/// A server whose pod "a" has managedFields, and watchers of one client.
struct Managed : Simulation {
    explicit Managed(sim::ApiServerOptions options = {}) : Simulation(std::move(options)) {
        apply("a");
        client = WatchProbe::client_of(*this);
    }
    void apply(const std::string& name) {
        boost::json::object object = pod({.name = name});
        object["metadata"].as_object()["managedFields"] =
            boost::json::parse(R"([{"manager":")" + std::string(3000, 'm') + R"("}])");
        server.apply(object);
    }
    WatchProbe& watch(const WatchOptions& options = {}, Kind kind = Kind::pod) {
        probes.push_back(
            std::make_unique<WatchProbe>(*this, client, WatchQuery{kind, {}, {}, {}}, options));
        probes.back()->start();
        return *probes.back();
    }
    /// The number of requests since the last call that ask for objects without them, and of others.
    std::pair<int, int> take_requests() {
        std::pair<int, int> counted;
        for (const auto& record : server.requests()) {
            if (record.request.path == "/version") continue;
            ++(drops(record.request) ? counted.first : counted.second);
        }
        server.clear_requests();
        return counted;
    }
    const Metrics::PerKind& counted() const { return metrics->of(Kind::pod); }

    std::shared_ptr<ApiClient> client;
    std::vector<std::unique_ptr<WatchProbe>> probes;
};

}  // namespace

TEST_CASE("managedFields: the metrics tell whether the server leaves them out") {
    const bool honours = GENERATE(false, true);
    const bool watch_list = GENERATE(false, true);
    const bool protobuf = GENERATE(false, true);
    CAPTURE(honours, watch_list, protobuf);
    Managed m(sim::ApiServerOptions{.protobuf = protobuf, .drop_managed_fields = honours});
    WatchOptions options;
    options.watch_list = watch_list;
    const WatchProbe& probe = m.watch(options);
    CHECK(probe.names() == Names{"a"});
    CHECK(m.counted().lists_without_managed_fields == (honours ? 1 : 0));
    CHECK(m.counted().lists_with_managed_fields == (honours ? 0 : 1));
    CHECK(m.take_requests() == std::pair(watch_list ? 1 : 2, 0));
    const auto bytes = m.counted().bytes_received.load();
    m.apply("b");
    m.settle();
    CHECK(probe.names() == Names{"a", "b"});
    CHECK((m.counted().bytes_received - bytes < 2000) == honours);
    CHECK(m.take_log().empty());
}

TEST_CASE("managedFields: requested as usual if the option is off") {
    Managed m(sim::ApiServerOptions{.drop_managed_fields = true});
    WatchOptions options;
    options.drop_managed_fields = false;
    m.watch(options);
    CHECK(m.take_requests() == std::pair(0, 1));
    CHECK(m.counted().lists_with_managed_fields == 0);
    CHECK(m.counted().lists_without_managed_fields == 0);
}

TEST_CASE("managedFields: a proxy that refuses the parameter is asked once, for all watches") {
    const unsigned status = GENERATE(406U, 415U, 400U);
    Managed m;
    m.server.set_intercept([status](const Request& request) {
        return drops(request) ? std::optional(Response::failure(status, "Reason", "no"))
                              : std::nullopt;
    });
    CHECK(m.watch().names() == Names{"a"});
    CHECK(m.take_requests() == std::pair(1, 1));
    CHECK(m.counted().json_fallbacks == 0);
    m.watch({}, Kind::service);
    m.watch();
    CHECK(m.take_requests() == std::pair(0, 2));
    for (const auto& probe : m.probes) CHECK_FALSE(probe->status().error);
    CHECK(m.take_log().empty());
}

TEST_CASE("managedFields: a proxy that refuses the parameter, and a server that refuses streams") {
    Managed m(sim::ApiServerOptions{.watch_list = false});
    m.server.set_intercept([](const Request& request) {
        return drops(request) ? std::optional(Response::failure(406, "NotAcceptable", "no"))
                              : std::nullopt;
    });
    CHECK(m.watch().names() == Names{"a"});
    CHECK(m.take_requests() == std::pair(1, 3));
    CHECK(m.counted().json_fallbacks == 0);
}

TEST_CASE("managedFields: a strict server answers in protobuf all the same") {
    Managed m(sim::ApiServerOptions{.refuse_accept_parameters = true});
    CHECK(m.watch().names() == Names{"a"});
    CHECK(m.counted().json_fallbacks == 0);
    CHECK(m.take_requests() == std::pair(1, 1));
}

TEST_CASE("managedFields: a server of another version is asked again") {
    Managed m;
    std::string version = "v1.36.0";
    bool strict = true;
    m.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        if (request.path == "/version") {
            Response response;
            response.body = R"({"gitVersion":")" + version + "\"}";
            return response;
        }
        if (!strict || !drops(request)) return std::nullopt;
        return Response::failure(406, "NotAcceptable", "no");
    });
    m.watch();
    m.advance(1min);
    m.take_requests();
    version = "v1.38.0";
    strict = false;
    m.advance(30min);  // watches are reopened, and the version is checked
    m.take_requests();
    m.watch();
    CHECK(m.take_requests() == std::pair(1, 0));
}
