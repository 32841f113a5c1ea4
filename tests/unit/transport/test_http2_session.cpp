#include "k8s_sd/detail/transport/http2/http2_session.hpp"
#include "support/allocations.hpp"
#include "support/http2_frames.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using namespace test::http2;
using EndKind = Http2End::Kind;

constexpr std::string_view get_request = "GET /api HTTP/1.1\r\nHost: server\r\n\r\n";

/// A session, the bytes it sends, and what became of its streams.
struct SessionFixture {
    struct Answer {
        std::vector<ResponseHead> heads;
        std::string body;
        std::optional<Http2End> end;
    };

    SessionFixture() {
        if (!has_http2()) SKIP("built without nghttp2");
        session = make_http2_session();
        flush();
    }
    /// Takes all bytes to send.
    std::vector<Frame> flush() {
        CleansedBytes output;
        session->append_output(output, 64 << 20);
        const auto frames = reader.read({output.data(), output.size()});
        sent.insert(sent.end(), frames.begin(), frames.end());
        drain();
        return frames;
    }
    void receive(std::string_view bytes, std::size_t piece = std::string::npos) {
        while (!bytes.empty()) {
            session->feed(bytes.substr(0, piece), now);
            drain();
            bytes.remove_prefix(std::min(piece, bytes.size()));
        }
        flush();
    }
    void drain() {
        while (const auto event = session->next()) {
            Answer& answer = answers[event->stream];
            switch (event->kind) {
                case Http2Event::Kind::head: answer.heads.push_back(event->head); break;
                case Http2Event::Kind::body: answer.body += event->bytes; break;
                case Http2Event::Kind::end: CHECK_FALSE(answer.end); answer.end = event->end;
            }
        }
    }
    std::int32_t open(std::string_view request = get_request) {
        const std::int32_t id = session->open(request);
        flush();
        return id;
    }
    std::size_t count(std::uint8_t type) const {
        return static_cast<std::size_t>(std::count_if(
            sent.begin(), sent.end(), [&](const Frame& f) { return f.type == type; }));
    }
    const Frame& last(std::uint8_t type) const {
        const auto found = std::find_if(sent.rbegin(), sent.rend(),
                                        [&](const Frame& f) { return f.type == type; });
        REQUIRE(found != sent.rend());
        return *found;
    }
    EndKind end_of(std::int32_t stream) {
        REQUIRE(answers[stream].end);
        return answers[stream].end->kind;
    }

    FrameReader reader;
    std::unique_ptr<Http2Session> session;
    std::vector<Frame> sent;
    std::map<std::int32_t, Answer> answers;
    TimePoint now{};
};

TEST_CASE("Http2Session: begins with preface, SETTINGS and a large window of the connection") {
    SessionFixture f;
    CHECK(f.reader.greeted());
    REQUIRE(f.sent.size() == 2);
    CHECK(f.sent[0].type == settings);
    CHECK(f.sent[1].type == window_update);
    CHECK(from_big_endian(f.sent[1].payload) == Http2Session::connection_window - 65535);
    CHECK(f.session->state().stream_limit == 100);
    CHECK_FALSE(f.session->state().ended);
}

/// Beside the stream of nghttp2, which has an allocator of its own. Over many streams, because the
/// allocator may round up a single block in several ways.
TEST_CASE("Http2Session: an answered request keeps at most 32 bytes while its stream is open") {
    constexpr int streams = 64;
    SessionFixture f;
    f.receive(settings_frame());
    f.receive(head_frame(f.open(), "200"));
    CleansedBytes output;
    std::int32_t next = 1;
    test::memory_use = {.on = true};
    for (int i = 1; i < streams; ++i) {
        next += 2;
        if (f.session->open(get_request) != next) break;
        f.session->append_output(output, 1 << 20);
        CleansedBytes().swap(output);
        const std::string head = head_frame(next, "200");
        f.session->feed(head, f.now);
        while (f.session->next()) {
        }
    }
    test::memory_use.on = false;
    CHECK(f.session->state().streams == streams);
    CHECK(test::memory_use.bytes <= 32 * streams);
}

TEST_CASE("Http2Session: a response is delivered in any chunking") {
    const std::string whole =
        settings_frame() + head_frame(1, "103") +
        head_frame(1, "200", 0, field("content-type", "application/JSON; a=b")) +
        data_frame(1, "hello ") + data_frame(1, "", 0) +
        frame(data, padded | end_stream, 1, std::string("\x03") + "world" + std::string(3, '\0'));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
        SessionFixture f;
        REQUIRE(f.open() == 1);
        CHECK(f.last(headers).flags == (end_headers | end_stream));
        f.receive(whole, piece);
        const auto& answer = f.answers[1];
        REQUIRE(answer.heads.size() == 1);
        CHECK(answer.heads[0].status == 200);
        CHECK(answer.heads[0].content_type == "application/json");
        CHECK(answer.heads[0].content_type_as_sent == "application/JSON; a=b");
        CHECK(answer.body == "hello world");
        CHECK(f.end_of(1) == EndKind::complete);
        CHECK(f.session->state().streams == 0);
    }
}

TEST_CASE("Http2Session: trailers end a response; a head alone may be all of it") {
    SessionFixture f;
    f.open();
    f.open();
    f.receive(settings_frame() + head_frame(1) + data_frame(1, "x") +
              frame(headers, end_headers | end_stream, 1, field("a", "b")) +
              head_frame(3, "401", end_stream));
    CHECK(f.answers[1].body == "x");
    CHECK(f.end_of(1) == EndKind::complete);
    CHECK(f.answers[3].heads.at(0).status == 401);
    CHECK(f.end_of(3) == EndKind::complete);
}

TEST_CASE("Http2Session: a body is sent with its request, and respects the window") {
    SessionFixture f;
    f.receive(settings_frame({{initial_window_size, 10}}));
    f.open("PUT /x HTTP/1.1\r\nHost: s\r\nContent-Length: 15\r\n\r\n0123456789abcde");
    CHECK(f.last(headers).flags == end_headers);
    CHECK(f.last(data).payload == "0123456789");
    f.receive(frame(window_update, none, 1, big_endian(100, 4)));
    CHECK(f.last(data).payload == "abcde");
    CHECK(f.last(data).flags == end_stream);
}

TEST_CASE("Http2Session: a head larger than a frame, such as a long selector, is sent whole") {
    SessionFixture f;
    const std::string request =
        "GET /" + std::string(200'000, 'x') + " HTTP/1.1\r\nHost: s\r\n\r\n";
    CHECK(f.open(request) == 1);
    CHECK(f.count(headers) == 1);
    CHECK(f.count(continuation) > 0);
    f.receive(settings_frame() + head_frame(1, "200", end_stream));
    CHECK(f.end_of(1) == EndKind::complete);
}

TEST_CASE("Http2Session: credentials are never indexed") {
    SessionFixture f;
    f.open("GET / HTTP/1.1\r\nHost: s\r\nAuthorization: Bearer secret\r\nX-Key: secret\r\n\r\n");
    const std::string block = f.last(headers).payload;
    // RFC 7541 6.2.3: 0001, then the index 23 of the static table, or 0 and a name (Huffman).
    CHECK(block.find("\x1F\x08") != std::string::npos);
    CHECK(block.find(std::string("\x10\x84")) != std::string::npos);
}

TEST_CASE("Http2Session: a stream without END_STREAM is cut, whatever its body looks like") {
    SessionFixture f;
    for (int i = 0; i < 3; ++i) f.open();
    f.receive(settings_frame() + head_frame(1) + data_frame(1, "{}") + rst_frame(1, no_error) +
              rst_frame(3, internal_error) + head_frame(5) + rst_frame(5, refused_stream));
    CHECK(f.end_of(1) == EndKind::cut);
    CHECK(f.end_of(3) == EndKind::cut);
    CHECK(f.answers[3].end->code == internal_error);
    // It was processed, whatever the code says.
    CHECK(f.end_of(5) == EndKind::cut);
}

TEST_CASE("Http2Session: a body of another length than announced is cut") {
    SessionFixture f;
    f.open();
    f.receive(settings_frame() + head_frame(1, "200", 0, field("content-length", "10")) +
              data_frame(1, "short", end_stream));
    CHECK(f.end_of(1) == EndKind::cut);
    CHECK_FALSE(f.session->state().ended);
}

TEST_CASE("Http2Session: a refused request can be repeated") {
    SessionFixture f;
    f.open();
    f.receive(settings_frame() + rst_frame(1, refused_stream));
    CHECK(f.end_of(1) == EndKind::refused);
    CHECK_FALSE(f.session->state().draining);
}

TEST_CASE("Http2Session: GOAWAY leaves earlier streams alone and refuses later ones") {
    SessionFixture f;
    for (int i = 0; i < 3; ++i) f.open();
    f.receive(settings_frame() + head_frame(1) + goaway_frame(0x7FFFFFFF, no_error));
    CHECK(f.session->state().draining);
    CHECK(f.session->state().goaway == no_error);
    CHECK(f.session->open(get_request) == 0);
    CHECK_FALSE(f.answers[5].end);
    f.receive(goaway_frame(3, no_error));
    CHECK(f.end_of(5) == EndKind::refused);
    CHECK_FALSE(f.answers[1].end);
    f.receive(data_frame(1, "event") + head_frame(3, "200", end_stream));
    CHECK(f.answers[1].body == "event");
    CHECK_FALSE(f.session->state().ended);
    f.receive(data_frame(1, "", end_stream));
    CHECK(f.end_of(1) == EndKind::complete);
    CHECK(f.session->state().ended);
}

TEST_CASE("Http2Session: a request that waits while GOAWAY arrives is refused") {
    SessionFixture f;
    f.receive(settings_frame());
    f.session->open(get_request);
    f.receive(goaway_frame(0x7FFFFFFF, no_error));
    CHECK(f.end_of(1) == EndKind::refused);
    CHECK(f.count(headers) == 0);
}

TEST_CASE("Http2Session: requests beyond the stream limit are refused, not queued") {
    SessionFixture f;
    for (int i = 0; i < 3; ++i) f.session->open(get_request);
    f.receive(settings_frame({{max_concurrent_streams, 2}}));
    CHECK(f.session->state().stream_limit == 2);
    CHECK(f.count(headers) == 2);
    CHECK(f.end_of(5) == EndKind::refused);
    SECTION("the limit shrinks: open streams go on") {
        f.receive(settings_frame({{max_concurrent_streams, 1}}) + head_frame(3) +
                  data_frame(3, "x", end_stream));
        CHECK(f.session->state().stream_limit == 1);
        CHECK(f.end_of(3) == EndKind::complete);
        CHECK_FALSE(f.answers[1].end);
    }
}

TEST_CASE("Http2Session: a cancelled stream is reset and silent, and its bytes count") {
    SessionFixture f;
    f.open();
    f.receive(settings_frame() + head_frame(1));
    f.session->cancel(1);
    f.flush();
    CHECK(from_big_endian(f.last(rst_stream).payload) == cancel);
    const std::string chunk(16384, 'x');
    for (int i = 0; i < 1200; ++i) f.receive(data_frame(1, chunk));
    CHECK(f.answers[1].body.empty());
    CHECK_FALSE(f.answers[1].end);
    CHECK(f.last(window_update).stream == 0);
    CHECK_FALSE(f.session->state().ended);
    SECTION("before it was sent") {
        const auto unsent = f.session->open(get_request);
        f.session->cancel(unsent);
        f.flush();
        CHECK(f.session->state().streams == 0);
        CHECK(f.count(headers) == 1);
    }
}

TEST_CASE("Http2Session: a cancelled stream is silent, even if its end has arrived") {
    SessionFixture f;
    f.open();
    f.open();
    const std::string input = settings_frame() + head_frame(1) + data_frame(1, "one", end_stream) +
                              head_frame(3) + data_frame(3, "two", end_stream);
    f.session->feed(input, f.now);
    REQUIRE(f.session->next());  // the head of the first
    f.session->cancel(1);
    f.session->cancel(3);
    CHECK_FALSE(f.session->next());
    f.flush();
    CHECK(f.answers.empty());
}

TEST_CASE("Http2Session: a stream that waits for its reset gets no further window") {
    SessionFixture f;
    f.open();
    f.open();
    f.receive(settings_frame() + frame(settings, ack, 0) + head_frame(1));
    const std::string unread = data_frame(1, "an event");
    f.session->feed(unread, f.now);
    f.session->abandon(1);
    CHECK_FALSE(f.session->next());
    f.sent.clear();
    const std::string chunk(16384, 'x');
    for (std::int64_t n = 0; n < Http2Session::stream_window * 3 / 4; n += 16384) {
        f.receive(data_frame(1, chunk));  // no window is renewed before half is consumed
    }
    f.receive(data_frame(1, "", end_stream));
    for (const Frame& sent : f.sent) CHECK(sent.stream == 0);
    CHECK(f.answers[1].body.empty());
    CHECK_FALSE(f.answers[1].end);
    CHECK_FALSE(f.session->needs_reset(1));
    CHECK(f.session->state().streams == 1);
    f.receive(head_frame(3) + data_frame(3, "two", end_stream));
    CHECK(f.answers[3].body == "two");
}

TEST_CASE("Http2Session: windows are renewed at half, in few frames") {
    SessionFixture f;
    f.open();
    f.receive(settings_frame() + frame(settings, ack, 0) + head_frame(1));
    const std::size_t before = f.count(window_update);
    const std::string chunk(16384, 'x');
    for (int i = 0; i < 6400; ++i) f.receive(data_frame(1, chunk));  // 100 MiB
    CHECK(f.answers[1].body.size() == 6400 * chunk.size());
    CHECK_FALSE(f.answers[1].end);
    const std::size_t updates = f.count(window_update) - before;
    CHECK(updates >= 12 + 6);
    CHECK(updates <= 13 + 7);
}

/// A list in steps of a sixteenth of a round trip. The server is never slower than its windows
/// permit. A window update takes a round trip from its bytes to the server.
/// \returns the number of steps in which the server had to wait
int count_stalls(std::int64_t bytes_per_round_trip) {
    constexpr std::size_t steps = 16;
    const std::string frame_of_16k(16 * 1024, 'x');
    const auto frame_size = static_cast<std::int64_t>(frame_of_16k.size());
    SessionFixture f;
    f.open();
    f.receive(settings_frame() + frame(settings, ack, 0) + head_frame(1));
    std::int64_t stream = Http2Session::stream_window;
    std::int64_t connection = Http2Session::connection_window;
    std::deque<std::vector<Frame>> updates(steps);
    int stalls = 0;
    for (std::int64_t left = 100 << 20; left > 0;) {
        for (const Frame& update : updates.front())
            (update.stream == 0 ? connection : stream) += from_big_endian(update.payload);
        updates.pop_front();
        const std::int64_t wanted = std::min(bytes_per_round_trip / std::int64_t{steps}, left);
        const std::int64_t size = std::min({wanted, stream, connection});
        if (size < wanted) ++stalls;
        std::string bytes;
        for (std::int64_t sent = 0; sent < size; sent += frame_size)
            bytes += data_frame(
                1, std::string_view(frame_of_16k).substr(0, static_cast<std::size_t>(size - sent)));
        f.sent.clear();
        f.receive(bytes);
        REQUIRE_FALSE(f.session->state().ended);
        updates.push_back(f.sent);
        left -= size;
        stream -= size;
        connection -= size;
    }
    return stalls;
}

TEST_CASE("Http2Session: up to 8 MiB a round trip, a list never waits for its window") {
    // At 10 ms of delay these are 839 MB a second.
    CHECK(count_stalls(8 << 20) == 0);
    CHECK(count_stalls(1 << 20) == 0);
    CHECK(count_stalls(64 << 20) > 0);
}

TEST_CASE("Http2Session: PING is sent and answered") {
    SessionFixture f;
    f.session->ping(0x0807060504030201U);
    f.flush();
    CHECK(f.last(ping).payload == "\1\2\3\4\5\6\7\x08");
    f.receive(settings_frame() + frame(ping, none, 0, "12345678"));
    CHECK(f.last(ping).flags == ack);
    CHECK(f.last(ping).payload == "12345678");
}

TEST_CASE("Http2Session: header fields are bounded") {
    SessionFixture f;
    f.open();
    f.open();
    f.receive(settings_frame());
    SECTION("in their decoded size") {
        // One entry of the compression table, repeated: 100 bytes become 100 KB.
        const std::string entry =
            std::string("\x40\x01") + "a\x7F\x80\x07" + std::string(1023, 'v');
        f.receive(frame(headers, end_headers, 1,
                        field(":status", "200") + entry + std::string(100, '\xBE')));
        CHECK(f.end_of(1) == EndKind::head_too_large);
        CHECK(f.answers[1].heads.empty());
        // The connection is as before.
        f.receive(head_frame(3) + data_frame(3, "x", end_stream));
        CHECK(f.end_of(3) == EndKind::complete);
    }
    SECTION("in the number of interim heads") {
        for (int i = 0; i <= Http2Session::max_interim_heads; ++i) f.receive(head_frame(1, "103"));
        CHECK(f.end_of(1) == EndKind::cut);
        f.receive(head_frame(3, "200", end_stream));
        CHECK(f.end_of(3) == EndKind::complete);
    }
    SECTION("in the number of CONTINUATION frames") {
        f.receive(frame(headers, none, 1, field(":status", "200")));
        for (int i = 0; i < 20'000 && !f.session->state().ended; ++i) {
            f.receive(frame(continuation, none, 1));
        }
        CHECK(f.session->state().ended);
    }
}

TEST_CASE("Http2Session: floods of frames without content end the session") {
    const std::vector<std::string> floods = {frame(ping, none, 0, "12345678"),
                                             frame(ping, ack, 0, "12345678"),
                                             settings_frame(),
                                             frame(settings, ack, 0),
                                             data_frame(1, ""),
                                             frame(window_update, none, 0, big_endian(1, 4)),
                                             frame(priority, none, 1, big_endian(0, 5)),
                                             rst_frame(1, internal_error)};
    for (const std::string& one : floods) {
        SessionFixture f;
        f.open();
        f.receive(settings_frame() + head_frame(1));
        std::string many;
        for (int i = 0; i < 1000; ++i) many += one;
        int rounds = 0;
        for (; rounds < 20 && !f.session->state().ended; ++rounds) f.receive(many);
        INFO("type " << int{one[3]});
        CHECK(f.session->state().ended);
        CHECK_FALSE(f.session->problem().empty());
        // The same in an hour does no harm.
        SessionFixture slow;
        slow.open();
        slow.receive(settings_frame() + head_frame(1));
        const bool is_ack_of_settings = one == frame(settings, ack, 0);
        for (int i = 0; i < 12 && !is_ack_of_settings; ++i) {
            slow.now += 5min;
            slow.receive(many);
            CHECK_FALSE(slow.session->state().ended);
        }
    }
}

TEST_CASE("Http2Session: a peer that reads nothing while it asks for answers is bounded") {
    SessionFixture f;
    std::string pings = settings_frame();
    for (int i = 0; i < 5000; ++i) pings += frame(ping, none, 0, "12345678");
    f.session->feed(pings, f.now);
    f.drain();
    CHECK(f.session->state().ended);
}

TEST_CASE("Http2Session: what is no HTTP/2 ends the session with an explanation") {
    for (const std::string& bytes :
         {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), data_frame(1, "first"),
          settings_frame() + frame(settings, ack, 0) +
              frame(push_promise, end_headers, 1, big_endian(2, 4)),
          settings_frame() + head_frame(2), settings_frame() + data_frame(0, "x"),
          settings_frame() + goaway_frame(1, no_error) + goaway_frame(5, no_error),
          settings_frame() + frame(headers, end_headers, 1, "\xFF\xFF\xFF\xFF\xFF")}) {
        SessionFixture f;
        f.open();
        f.receive(bytes);
        INFO(bytes);
        CHECK(f.session->state().ended);
        CHECK_FALSE(f.session->problem().empty());
    }
}

TEST_CASE("Http2Session: error codes have names") {
    SessionFixture f;
    CHECK(http2_error_name(enhance_your_calm) == "ENHANCE_YOUR_CALM");
    CHECK(http2_error_name(77) == "error 77");
}

}  // namespace
}  // namespace k8s_sd::detail
