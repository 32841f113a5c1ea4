#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/watch_forms.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// The forms of the requests for pods, or another kind, to a server that is never contacted.
struct FormsFixture {
    explicit FormsFixture(Kind kind = Kind::pod, WatchOptions with = {}) : options(with) {
        query.kind = kind;
    }

    static Environment environment() {
        Environment environment;
        environment.clock = std::make_shared<sim::ManualClock>();
        return environment;
    }
    /// A complete exchange without an error.
    Exchange answered(const WatchRequest& request) const {
        Exchange exchange;
        exchange.gzip = request.gzip;
        exchange.sharded = request.sharded;
        exchange.head.status = 200;
        exchange.readable = true;
        return exchange;
    }
    bool fails(const WatchRequest& request, unsigned status, bool encoding_failed = false) {
        Verdict verdict;
        verdict.failure.ec = errc::server_error;
        return fails(request, status, verdict, encoding_failed);
    }
    bool fails(const WatchRequest& request, unsigned status, const Verdict& verdict,
               bool encoding_failed = false) {
        Exchange exchange = answered(request);
        exchange.head.status = status;
        return forms.on_verdict(exchange, verdict, encoding_failed);
    }

    asio::io_context context;
    WatchQuery query;
    WatchOptions options;
    std::shared_ptr<ApiClient> client = std::make_shared<ApiClient>(
        context.get_executor(), ApiServerConfig{.url = "https://a:6443"}, environment());
    WatchServer server{client};
    Metrics::PerKind metrics;
    Logger logger{LogLevel::off, {}};
    WatchReport report{
        query, server.api().url(), metrics, logger, [](std::string text) { return text; }, {}};
    WatchForms forms{query, options, schema_of(Kind::pod), server, report};
};

WatchOptions with_gzip(Compression gzip) {
    WatchOptions options;
    options.gzip = gzip;
    return options;
}

}  // namespace

TEST_CASE("WatchForms: a request names its encoding") {
    FormsFixture f;
    CHECK(f.forms.list({}).accept == accepted::protobuf);
    CHECK(f.forms.probe().accept == accepted::protobuf);
    CHECK(f.forms.watch({"7"}, 300s).accept == accepted::protobuf);
    CHECK(f.forms.watch({"7"}, 300s).watch_timeout == 300s);
    CHECK(f.forms.streamed_list({}, 300s).watch_timeout == 300s);
}

TEST_CASE("WatchForms: plain JSON follows a failed encoding, once, for all watches of the kind") {
    FormsFixture f;
    CHECK(f.fails(f.forms.list({}), 406, true));
    CHECK(f.forms.list({}).accept == accepted::json);
    CHECK_FALSE(f.fails(f.forms.list({}), 406, true));
    CHECK(f.forms.known().json_until);
    WatchForms others(f.query, f.options, schema_of(Kind::pod), f.server, f.report);
    others.begin_list({});
    CHECK(others.list({}).accept == accepted::json);
    f.forms.forget();
    CHECK(f.forms.list({}).accept == accepted::protobuf);
}

TEST_CASE("WatchForms: lists are compressed if wanted, but Secrets and streams never") {
    CHECK(FormsFixture(Kind::pod, with_gzip(Compression::always)).forms.list({}).gzip);
    CHECK_FALSE(FormsFixture(Kind::pod, with_gzip(Compression::never)).forms.list({}).gzip);
    CHECK_FALSE(FormsFixture(Kind::secret, with_gzip(Compression::always)).forms.list({}).gzip);
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    CHECK_FALSE(f.forms.watch({"7"}, 300s).gzip);
    CHECK_FALSE(f.forms.may_stream_list());
    // A failure may be due to the compression.
    CHECK_FALSE(f.fails(f.forms.list({}), 500));
    CHECK_FALSE(f.forms.list({}).gzip);
    CHECK(f.forms.may_stream_list());
}

TEST_CASE(
    "WatchForms: a response about load or credentials says nothing about compression or shares") {
    using Cause = WatchMachine::Cause;
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    f.query.share = ObjectShare::part(0, 2);
    Verdict verdict;
    verdict.failure.ec = errc::server_error;
    for (const Cause cause : {Cause::busy, Cause::credentials, Cause::absent}) {
        CAPTURE(static_cast<int>(cause));
        verdict.outcome = WatchMachine::Failed{1s, cause};
        const WatchRequest request = f.forms.list({});
        CHECK(request.gzip);
        CHECK(request.sharded);
        const unsigned status = cause == Cause::busy ? 500 : cause == Cause::absent ? 404 : 401;
        CHECK_FALSE(f.fails(request, status, verdict));
    }
    CHECK(f.forms.list({}).gzip);
    CHECK(f.forms.list({}).sharded);
}

TEST_CASE("WatchForms: a refused share is followed by a request for everything") {
    FormsFixture f;
    CHECK_FALSE(f.forms.list({}).sharded);
    f.query.share = ObjectShare::part(0, 2);
    const WatchRequest request = f.forms.list({});
    CHECK(request.sharded);
    CHECK(request.target.find("shardSelector") != std::string::npos);
    CHECK(f.fails(request, 400));
    const WatchRequest whole = f.forms.list({});
    CHECK_FALSE(whole.sharded);
    CHECK(whole.target.find("shardSelector") == std::string::npos);
    f.forms.on_success(whole.sharded);
    CHECK_FALSE(f.forms.list({}).sharded);  // remembered for the server
}

TEST_CASE("WatchForms: an older API version is asked for in JSON, and never streamed") {
    FormsFixture f;
    CHECK(f.forms.may_stream_list());
    CHECK(f.server.take_version({true, "v1beta1"}, false).moved);
    CHECK_FALSE(f.forms.may_stream_list());
    CHECK(f.forms.list({}).accept == accepted::json);
}

TEST_CASE("WatchServer: the version that discovery lists is taken") {
    FormsFixture f;
    WatchServer& server = f.server;
    CHECK_FALSE(server.take_version({}, true).moved);
    CHECK_FALSE(server.take_version({true, ""}, true).moved);
    const WatchServer::Version older = server.take_version({true, "v1beta1"}, false);
    CHECK((older.served && older.moved));
    CHECK(server.api_version() == "v1beta1");
    // Without an answer, only a lost version is given up.
    CHECK_FALSE(server.take_version({}, false).moved);
    const WatchServer::Version lost = server.take_version({}, true);
    CHECK((!lost.served && lost.moved));
    CHECK(server.api_version().empty());
}

TEST_CASE("WatchServer: the client may move to another server") {
    FormsFixture f;
    CHECK_FALSE(f.server.is_listed());
    f.server.on_listed();
    CHECK(f.server.is_listed());
    CHECK_FALSE(f.server.is_left());
    ++f.server.api().server_revision;
    CHECK(f.server.is_left());
    CHECK_FALSE(f.server.is_listed());
    CHECK_FALSE(f.server.take());  // with the same traffic
    CHECK_FALSE(f.server.is_left());
    f.server.api().traffic =
        std::make_shared<ServerTraffic>(ServerLimits{}, std::make_shared<Metrics>());
    CHECK(f.server.take());
}

TEST_CASE("an encoding is of no use if the server refuses it, or sends nonsense in it") {
    Exchange exchange;
    exchange.head.status = 415;
    CHECK(is_encoding_of_no_use(exchange, {}));
    exchange.head.status = 200;
    exchange.head.content_type = protobuf_media_type;
    exchange.readable = true;
    CHECK(is_encoding_of_no_use(exchange, {errc::malformed_response, {}}));
    CHECK_FALSE(is_encoding_of_no_use(exchange, {errc::truncated_response, {}}));
    exchange.head.content_encoding = "gzip";
    CHECK_FALSE(is_encoding_of_no_use(exchange, {errc::malformed_response, {}}));
}

}  // namespace k8s_sd::detail
