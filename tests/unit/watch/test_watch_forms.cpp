#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/watch/watch_forms.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// The forms of the requests for pods, or another kind, to a server that is never contacted.
struct FormsFixture {
    explicit FormsFixture(Kind kind = Kind::pod, WatchOptions with = {})
        : options(with), subject(subject_of(kind, options)) {
        first.streamed = first.first = true;
    }

    Environment environment() const {
        Environment environment;
        environment.clock = clock;
        return environment;
    }
    /// A complete exchange without an error.
    Exchange answered(const WatchRequest& request) const {
        Exchange exchange;
        exchange.gzip = request.gzip;
        exchange.sharded = request.sharded;
        exchange.drops = request.drops;
        exchange.streamed = request.streamed;
        exchange.status = 200;
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
        exchange.status = status;
        return forms.on_verdict(exchange, verdict, encoding_failed);
    }

    WatchSubject subject_of(Kind kind, const WatchOptions& with, ObjectShare share = {}) const {
        WatchQuery query;
        query.kind = kind;
        query.share = std::move(share);
        return WatchSubject(std::make_shared<const WatchSetup>(
            std::move(query), std::make_shared<const WatchOptions>(with),
            std::make_shared<ObjectMaker>()));
    }
    void take_half() { subject = subject_of(subject.kind(), options, ObjectShare::part(0, 2)); }
    bool may_stream() const { return forms.may_stream_list(first); }
    TimePoint now() const { return server.now(); }

    asio::io_context context;
    std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();
    WatchMachine::List first;  ///< a streamed list, the first form
    WatchOptions options;
    WatchSubject subject;
    std::shared_ptr<ApiClient> client = std::make_shared<ApiClient>(
        context.get_executor(), ApiServerConfig{.url = "https://a:6443"}, environment());
    WatchServer server{client};
    WatchReport report{subject, server.api().reports, now()};
    WatchForms forms{subject, server, report};
};

WatchOptions with_gzip(Compression gzip) {
    WatchOptions options;
    options.gzip = gzip;
    return options;
}

}  // namespace

TEST_CASE("WatchForms: a request names its encoding") {
    WatchOptions options;
    options.drop_managed_fields = false;
    FormsFixture f(Kind::pod, options);
    CHECK(f.forms.list({}).accept == accepted::protobuf);
    CHECK(f.forms.probe().accept == accepted::protobuf);
    CHECK(f.forms.watch({"7"}, 300s).accept == accepted::protobuf);
    CHECK(f.forms.watch({"7"}, 300s).watch_timeout == 300s);
    CHECK(f.forms.streamed_list({}, 300s).watch_timeout == 300s);
}

TEST_CASE("WatchForms: plain JSON follows a failed encoding, once, for all watches of the kind") {
    WatchOptions options;
    options.drop_managed_fields = false;
    FormsFixture f(Kind::pod, options);
    CHECK(f.fails(f.forms.list({}), 406, true));
    CHECK(f.forms.list({}).accept == accepted::json);
    CHECK_FALSE(f.fails(f.forms.list({}), 406, true));
    CHECK(f.forms.known().json_until);
    WatchForms others(f.subject, f.server, f.report);
    others.begin_list({});
    CHECK(others.list({}).accept == accepted::json);
    f.forms.forget();
    CHECK(f.forms.list({}).accept == accepted::protobuf);
}

TEST_CASE(
    "WatchForms: managedFields are left out on request, but not in plain JSON as a fallback") {
    FormsFixture f;
    const WatchRequest request = f.forms.list({});
    CHECK(request.drops);
    CHECK(request.accept == "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,"
                            "application/json;drop=metadata.managedFields;q=0.9");
    CHECK(f.forms.watch({"7"}, 300s).drops);
    WatchMachine::List other;
    other.other_encoding = true;
    CHECK_FALSE(f.forms.list(other).drops);
    CHECK(f.forms.list(other).accept == accepted::json);
}

TEST_CASE("WatchForms: a request without managedFields that is refused is repeated with them") {
    const unsigned status = GENERATE(400U, 406U, 415U);
    FormsFixture f;
    CHECK(f.fails(f.forms.list({}), status, status != 400));
    const WatchRequest whole = f.forms.list({});
    CHECK_FALSE(whole.drops);
    CHECK(whole.accept == accepted::protobuf);
    SECTION("which the server serves: remembered for all watches, for a day") {
        f.forms.on_success(f.answered(whole));
        CHECK_FALSE(f.forms.list({}).drops);
        CHECK_FALSE(f.forms.known().drops);
        f.clock->advance(24h);
        CHECK(f.forms.list({}).drops);
    }
    SECTION("which fails as well: the parameter is not the cause") {
        CHECK(f.fails(whole, status, true));
        CHECK(f.forms.list({}).accept == accepted::json);
        CHECK(f.forms.known().drops);
    }
    SECTION("which gets no answer: it is still to be tested") {
        CHECK_FALSE(f.fails(whole, 0));
        CHECK_FALSE(f.forms.list({}).drops);
    }
}

TEST_CASE("WatchForms: another failure says nothing about managedFields") {
    FormsFixture f;
    for (const unsigned status : {0U, 401U, 403U, 404U, 410U, 422U, 429U, 500U, 503U}) {
        CHECK_FALSE(f.fails(f.forms.list({}), status));
        CHECK(f.forms.list({}).drops);
    }
}

TEST_CASE("WatchForms: a streamed list is compressed until the server sends one as it is") {
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    CHECK(f.may_stream());
    const WatchRequest request = f.forms.streamed_list({}, 300s);
    CHECK(request.gzip);
    Exchange exchange = f.answered(request);
    exchange.packed = true;
    CHECK_FALSE(f.forms.on_stream_begun(exchange));
    CHECK(f.may_stream());
    exchange.packed = false;
    CHECK(f.forms.on_stream_begun(exchange));
    CHECK_FALSE(f.may_stream());
    CHECK(f.forms.list({}).gzip);
    // As the last resort it may come without compression.
    WatchMachine::List last = f.first;
    last.first = false;
    CHECK(f.forms.may_stream_list(last));
    CHECK_FALSE(f.forms.streamed_list(last, 300s).gzip);
    // Without compression it may be streamed.
    const WatchSubject plain = f.subject_of(Kind::pod, {});
    WatchForms others(plain, f.server, f.report);
    CHECK(others.may_stream_list(f.first));
}

TEST_CASE("WatchForms: only invalid data of a compressed watch speaks against its compression") {
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    Exchange exchange = f.answered(f.forms.streamed_list({}, 300s));
    exchange.purpose = Purpose::watch;
    Verdict verdict;
    verdict.failure.ec = errc::truncated_response;
    CHECK_FALSE(f.forms.on_verdict(exchange, verdict, false));
    CHECK(f.forms.list({}).gzip);
    verdict.failure.ec = errc::malformed_response;
    CHECK_FALSE(f.forms.on_verdict(exchange, verdict, false));
    CHECK_FALSE(f.forms.list({}).gzip);
}

TEST_CASE("WatchForms: a list that waited is not streamed if the server has refused another one") {
    FormsFixture f;
    CHECK(f.may_stream());
    f.server.traffic()->list_forms.on_not_streamed(Kind::service, true, f.now());
    CHECK_FALSE(f.may_stream());
}

TEST_CASE("WatchForms: a stream as the last resort is limited for all watches together") {
    FormsFixture f;
    f.first.first = false;
    for (int i = 0; i < 4; ++i) CHECK(f.may_stream());
    CHECK_FALSE(f.may_stream());
    f.clock->advance(10s);
    CHECK(f.may_stream());
}

TEST_CASE("WatchForms: where streams work, those of the last resort are not limited") {
    FormsFixture f;
    f.first.first = false;
    f.server.traffic()->list_forms.on_stream_begun(Kind::service, f.now());
    for (int i = 0; i < 31; ++i) CHECK(f.may_stream());
}

TEST_CASE("WatchForms: a refusal of something else says nothing about compression") {
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    const unsigned status = GENERATE(403U, 404U, 405U, 410U, 422U);
    CHECK_FALSE(f.fails(f.forms.streamed_list({}, 300s), status));
    CHECK(f.forms.list({}).gzip);
}

TEST_CASE("WatchForms: a useless version or continue token says nothing about compression") {
    using Machine = WatchMachine;
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    Verdict verdict;
    verdict.failure.ec = errc::server_error;
    for (const Machine::Outcome& outcome :
         std::initializer_list<Machine::Outcome>{Machine::Expired{}, Machine::VersionTooLarge{},
                                                 Machine::Rejected{}, Machine::BadPages{}}) {
        CAPTURE(outcome.index());
        verdict.outcome = outcome;
        const WatchRequest request = f.forms.list({});
        REQUIRE(request.gzip);
        CHECK_FALSE(f.fails(request, 504, verdict));
        CHECK(f.forms.list({}).gzip);
    }
}

TEST_CASE("WatchForms: the request without managedFields that follows is still compressed") {
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    CHECK(f.fails(f.forms.list({}), 406, true));
    const WatchRequest whole = f.forms.list({});
    CHECK_FALSE(whole.drops);
    CHECK(whole.gzip);
}

TEST_CASE("WatchForms: lists are compressed if wanted, but Secrets and watches never") {
    CHECK(FormsFixture(Kind::pod, with_gzip(Compression::always)).forms.list({}).gzip);
    CHECK_FALSE(FormsFixture(Kind::pod, with_gzip(Compression::never)).forms.list({}).gzip);
    CHECK_FALSE(FormsFixture(Kind::secret, with_gzip(Compression::always)).forms.list({}).gzip);
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    CHECK_FALSE(f.forms.watch({"7"}, 300s).gzip);
    // A failure may be due to the compression.
    CHECK_FALSE(f.fails(f.forms.list({}), 500));
    CHECK_FALSE(f.forms.list({}).gzip);
    CHECK_FALSE(f.forms.streamed_list({}, 300s).gzip);
}

TEST_CASE(
    "WatchForms: a response about load or credentials says nothing about compression or shares") {
    using Cause = WatchMachine::Cause;
    FormsFixture f(Kind::pod, with_gzip(Compression::always));
    f.take_half();
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
    f.take_half();
    const WatchRequest request = f.forms.list({});
    CHECK(request.sharded);
    CHECK(request.target.find("shardSelector") != std::string::npos);
    CHECK(f.fails(request, 403));
    const WatchRequest whole = f.forms.list({});
    CHECK_FALSE(whole.sharded);
    CHECK(whole.target.find("shardSelector") == std::string::npos);
    f.forms.on_success(f.answered(whole));
    CHECK_FALSE(f.forms.list({}).sharded);  // remembered for the server
}

TEST_CASE("WatchForms: a server that refuses both parameters gets a request with neither") {
    const unsigned of_share = GENERATE(400U, 403U, 422U, 500U);
    const unsigned of_drop = GENERATE(400U, 406U, 415U);
    const bool share_first = GENERATE(false, true);
    CAPTURE(of_share, of_drop, share_first);
    FormsFixture f;
    f.take_half();
    WatchRequest request = f.forms.list({});
    int refused = 0;
    while (request.sharded || request.drops) {
        REQUIRE(++refused <= 4);
        const bool about_share = request.sharded && (share_first || !request.drops);
        f.fails(request, about_share ? of_share : of_drop);
        request = f.forms.list({});
    }
}

TEST_CASE("WatchForms: an older API version is asked for in JSON, and never streamed") {
    FormsFixture f;
    CHECK(f.may_stream());
    CHECK(f.server.take_version({true, "v1beta1"}, false).moved);
    CHECK_FALSE(f.may_stream());
    CHECK(f.forms.list({}).accept == accepted::without_managed_fields(accepted::json));
}

TEST_CASE("an encoding is of no use if the server refuses it, or sends nonsense in it") {
    Exchange exchange;
    exchange.status = 415;
    CHECK(is_encoding_of_no_use(exchange, {}));
    exchange.status = 200;
    exchange.protobuf = exchange.readable = true;
    CHECK(is_encoding_of_no_use(exchange, {errc::malformed_response, {}}));
    CHECK_FALSE(is_encoding_of_no_use(exchange, {errc::truncated_response, {}}));
    exchange.fields.use().content_encoding = "gzip";
    CHECK_FALSE(is_encoding_of_no_use(exchange, {errc::malformed_response, {}}));
}

}  // namespace k8s_sd::detail
