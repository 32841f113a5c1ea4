#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/watch_exchange.hpp"
#include "support/gzip.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view short_list =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c"},)"
    R"("items":[{"metadata":{"name":"a","namespace":"ns","uid":"u"}}]})";
constexpr std::string_view short_event =
    R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
    R"({"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}})";

/// Fails to connect.
struct NoStreams final : Connector {
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override {
        return nullptr;
    }
};

/// An exchange whose response the test invents, and the calls of its sinks.
struct ExchangeFixture final : EventSink, GoodHeadSink, ResponseSink {
    void on_object(EventType, const DecodedObject& decoded) override {
        ++exchange.state().items;
        calls += "object " + std::string(decoded.meta.name) + ";";
        if (after_object) after_object();
    }
    void on_bookmark(std::string_view version, bool) override {
        calls += "bookmark " + std::string(version) + ";";
    }
    void on_error_event(const ServerStatus& error) override {
        exchange.state().error_event = error;
    }
    void on_bad_object(const BadObject&) override { calls += "bad;"; }
    void on_good_head() override {
        calls += "good;";
        if (stop_on_good_head) exchange.stop();
    }
    void on_head(const ResponseHead&) override {}
    error_code on_body(std::string_view) override { return {}; }

    void begin(Purpose purpose, WatchRequest request = {}) {
        ExchangeRequest about;
        about.purpose = purpose;
        exchange.begin(request, std::move(about));
    }
    void head(unsigned status, std::string type = "application/json", std::string encoding = {}) {
        ResponseHead head;
        head.status = status;
        head.content_type = std::move(type);
        head.content_encoding = std::move(encoding);
        exchange.on_head(head);
    }
    error_code body(std::string_view bytes) {
        exchange.begin_read(bytes.size());
        const error_code ec = exchange.read(bytes);
        exchange.end_read();
        return ec;
    }
    void advance(Duration time) { clock->advance(time); }

    asio::io_context context;
    std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();
    std::string calls;
    bool stop_on_good_head = false;
    std::function<void()> after_object;
    WatchExchange exchange{
        HttpConnection(context.get_executor(), std::make_shared<NoStreams>(), clock),
        *clock,
        schema_of(Kind::pod),
        std::size_t{1} << 20,
        *this,
        *this};
};

}  // namespace

TEST_CASE("WatchExchange: a page of a list") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    f.head(200);
    CHECK(f.exchange.may_be_readable());
    CHECK_FALSE(f.body(short_list));
    CHECK(f.calls == "good;object a;");
    const Failure failure = f.exchange.finish({}, {});
    CHECK_FALSE(failure.ec);
    f.advance(2s);
    const ExchangeEnd end = f.exchange.end(failure);
    CHECK(end.page.resource_version == "7");
    CHECK(end.page.continue_token == "c");
    CHECK(end.page.items == 1);
    CHECK(end.life == 2s);
    CHECK(f.exchange.meter().total().bytes == short_list.size());
}

TEST_CASE("WatchExchange: a request begins without anything of the previous exchange") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    f.head(200, "application/json", "gzip");
    f.body("x");
    WatchRequest request;
    request.has_position = request.gzip = request.sharded = request.hasty = true;
    request.body_timeout = 3s;
    f.begin(Purpose::probe, request);
    const Exchange& state = f.exchange.state();
    CHECK(state.purpose == Purpose::probe);
    CHECK((state.has_position && state.gzip && state.sharded && state.hasty));
    CHECK(state.body_timeout == 3s);
    CHECK(state.status == 0);
    CHECK_FALSE(state.readable);
    CHECK(f.exchange.meter().total().bytes == 0);
    CHECK(f.exchange.end({}).life == 0s);
}

TEST_CASE("WatchExchange: a compressed list, in pieces") {
    ExchangeFixture f;
    const std::string packed = test::gzip(short_list);
    const std::size_t cut = GENERATE(std::size_t{1}, std::size_t{20}, std::size_t{60});
    f.begin(Purpose::list);
    f.head(200, "application/json", GENERATE("gzip", "x-gzip"));
    CHECK_FALSE(f.body(std::string_view(packed).substr(0, cut)));
    SECTION("complete") {
        CHECK_FALSE(f.body(std::string_view(packed).substr(cut)));
        CHECK(f.calls == "good;object a;");
        CHECK_FALSE(f.exchange.finish({}, {}).ec);
    }
    SECTION("cut") { CHECK(f.exchange.finish({}, {}).ec == errc::truncated_response); }
}

TEST_CASE("WatchExchange: the first byte decides whether a body is compressed, not its head") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    SECTION("plain, with Content-Encoding") {
        f.head(200, "application/json", "gzip");
        CHECK(f.exchange.state().packed);
        CHECK_FALSE(f.body(short_list));
        CHECK_FALSE(f.exchange.state().packed);
    }
    SECTION("compressed, without Content-Encoding") {
        f.head(200, "application/json");
        CHECK_FALSE(f.body(test::gzip(short_list)));
        CHECK(f.exchange.state().packed);
    }
    CHECK(f.calls == "good;object a;");
    CHECK_FALSE(f.exchange.finish({}, {}).ec);
}

TEST_CASE("WatchExchange: each event of a compressed watch arrives with its member") {
    ExchangeFixture f;
    f.begin(Purpose::watch);
    f.head(200, "application/json", "gzip");
    std::string expected = "good;";
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(f.body(test::gzip(short_event)));
        CHECK(f.calls == (expected += "object a;"));
    }
    CHECK_FALSE(f.exchange.finish({}, {}).ec);
}

TEST_CASE("WatchExchange: the reader, or the inflater, explains its errors") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    SECTION("reader") { f.head(200); }
    std::string bad = R"({"kind":"PodList","items":[}])";
    SECTION("inflater") {
        f.head(200, "application/json", "gzip");
        bad = "\x1F\x8B\x07 is not gzip";
    }
    const error_code ec = f.body(bad);
    REQUIRE(ec == errc::malformed_response);
    const Failure failure = f.exchange.finish(ec, "of the connection");
    CHECK(failure.ec == ec);
    CHECK(failure.message != "of the connection");
    CHECK_FALSE(failure.message.empty());
    // An error of the connection keeps its own text.
    CHECK(f.exchange.finish(asio::error::eof, "of the connection").message == "of the connection");
}

TEST_CASE("WatchExchange: the body of an error is collected") {
    ExchangeFixture f;
    f.begin(Purpose::watch);
    f.head(403);
    CHECK_FALSE(f.exchange.may_be_readable());
    CHECK_FALSE(f.body("no"));
    CHECK(f.exchange.state().error_text == "no");
    CHECK(f.calls.empty());
}

TEST_CASE("WatchExchange: the first byte decides if the content type does not") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    f.head(200, "text/plain");
    CHECK(f.calls.empty());
    CHECK(f.exchange.may_be_readable());
    SECTION("JSON") {
        CHECK_FALSE(f.body(short_list));
        CHECK(f.calls == "good;object a;");
        CHECK(f.exchange.state().mistyped);
    }
    SECTION("something else") {
        CHECK(f.body("<html>") == errc::unexpected_content_type);
        CHECK_FALSE(f.exchange.may_be_readable());
    }
}

TEST_CASE("WatchExchange: a response is not read any further") {
    ExchangeFixture f;
    f.begin(Purpose::watch);
    f.head(200);
    Exchange& state = f.exchange.state();
    SECTION("with a verdict") {
        f.after_object = [&] { state.found.version = "1"; };
        CHECK(f.body(short_event) == asio::error::operation_aborted);
    }
    SECTION("in doubt") {
        f.after_object = [&] { state.found.doubted = true; };
        CHECK(f.body(short_event) == asio::error::operation_aborted);
    }
    SECTION("with too many objects") {
        f.after_object = [&] { state.too_many = true; };
        CHECK(f.body(short_event) == errc::too_many_objects);
    }
    SECTION("after an error event") {
        f.after_object = [&] { state.error_event.emplace(); };
        CHECK(f.body(short_event) == errc::server_error);
    }
    SECTION("once stopped") {
        f.after_object = [&] { f.exchange.stop(); };
        CHECK(f.body(short_event) == asio::error::operation_aborted);
    }
}

TEST_CASE("WatchExchange: nothing is decoded if the good head stops the watch") {
    ExchangeFixture f;
    f.stop_on_good_head = true;
    f.begin(Purpose::list);
    f.head(200, "");
    CHECK(f.body(short_list) == asio::error::operation_aborted);
    CHECK(f.calls == "good;");
}

TEST_CASE("WatchExchange: a watch ends in time within five seconds of its timeout") {
    ExchangeFixture f;
    WatchRequest request;
    request.watch_timeout = 300s;
    f.begin(Purpose::watch, request);
    CHECK(f.exchange.watched() == 0s);
    f.head(200);
    f.advance(10s);
    f.exchange.begin_watch();
    f.advance(284s);
    CHECK_FALSE(f.exchange.end({}).in_time);
    f.advance(1s);
    CHECK(f.exchange.end({}).in_time);
    CHECK(f.exchange.end({}).life == 285s);
    CHECK(f.exchange.watched() == 285s);
}

TEST_CASE("WatchExchange: a streamed list becomes a watch") {
    ExchangeFixture f;
    WatchRequest request;
    request.streamed = true;
    request.watch_timeout = 300s;
    f.begin(Purpose::list, request);
    f.head(200);
    CHECK_FALSE(f.body(short_event));
    CHECK(f.calls == "good;object a;");
    CHECK(f.exchange.state().streams_list());
    f.exchange.begin_watch();
    CHECK(f.exchange.state().watching());
    CHECK(f.exchange.watch_timeout() == 300s);
}

TEST_CASE("WatchExchange: the second object of a probe comes after the version") {
    ExchangeFixture f;
    f.begin(Purpose::probe);
    f.head(200);
    f.after_object = [&f] { f.exchange.on_probed_object(); };
    CHECK(f.body(R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[)"
                 R"({"metadata":{"name":"a","namespace":"ns","uid":"u"}},)"
                 R"({"metadata":{"name":"b","namespace":"ns","uid":"v"}},)") ==
          asio::error::operation_aborted);
    CHECK(f.exchange.state().found.version == "7");
}

TEST_CASE("WatchExchange: a request remembers its credentials, and the time until the head") {
    ExchangeFixture f;
    f.begin(Purpose::list);
    error_code failed;
    f.exchange.send(std::make_shared<ConnectTarget>(), {}, 5, f,
                    [&failed](error_code ec, const std::string&) { failed = ec; });
    CHECK(f.exchange.credentials() == 5);
    f.advance(3s);
    f.head(200);
    CHECK(f.exchange.response_time() == 3s);
    CHECK(f.exchange.head_at() == f.clock->now());
    test::settle(f.context);
    CHECK(failed == errc::connector_failed);
}

TEST_CASE("WatchExchange: an immediate retry counts for half a minute") {
    ExchangeFixture f;
    CHECK_FALSE(f.exchange.has_just_retried());
    f.exchange.on_retry();
    f.advance(29s);
    CHECK(f.exchange.has_just_retried());
    f.advance(1s);
    CHECK_FALSE(f.exchange.has_just_retried());
}

}  // namespace k8s_sd::detail
