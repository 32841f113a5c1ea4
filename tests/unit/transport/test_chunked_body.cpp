#include "k8s_sd/detail/transport/chunked_body.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <string_view>

namespace k8s_sd::detail {
namespace {

/// The result of a body that arrives in pieces: its data, "…" if it has not ended, and the rest.
struct Reading {
    std::string data;
    std::size_t used = 0;
    bool done = false;
    error_code ec;
    bool operator==(const Reading&) const = default;
};

Reading read_chunks(std::string_view text, std::size_t piece = std::string_view::npos) {
    ChunkedBody body;
    Reading result;
    std::string waiting;
    while (!text.empty() && !body.done() && !result.ec) {
        waiting += text.substr(0, piece);
        text.remove_prefix(std::min(piece, text.size()));
        const std::size_t used = body.put(
            waiting,
            [&](std::string_view data) {
                result.data += data;
                return error_code();
            },
            result.ec);
        result.used += used;
        waiting.erase(0, used);
    }
    result.done = body.done();
    return result;
}

TEST_CASE("ChunkedBody: bodies are read as Go reads them, however they are cut") {
    for (const std::string_view text : {
             "5\r\nhello\r\n0\r\n\r\n",
             "5  \r\nhello\r\n0   \r\n\r\n",
             "5\t \r\nhello\r\n000\t\r\n\r\n",
             "00000005;name=\"a;b\"\r\nhello\r\n0;x\r\n\r\n",
             "2 ; x\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: \r\nOther: a:b\r\n\r\n",
             "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n",
         }) {
        INFO(text);
        const Reading whole = read_chunks(text);
        CHECK(whole.data == "hello");
        CHECK(whole.done);
        CHECK(whole.used == text.size());
        CHECK_FALSE(whole.ec);
        for (std::size_t piece = 1; piece < text.size(); ++piece) {
            CHECK(read_chunks(text, piece) == whole);
        }
        for (std::size_t size = 0; size < text.size(); ++size) {
            const Reading part = read_chunks(text.substr(0, size));
            CHECK_FALSE(part.done);
            CHECK_FALSE(part.ec);
            CHECK(std::string_view("hello").starts_with(part.data));
        }
    }
}

TEST_CASE("ChunkedBody: what two readers could read differently is refused") {
    for (const std::string_view text : {
             "5\nhello\r\n0\r\n\r\n",           // ends of lines
             "5\r\nhello\n0\r\n\r\n",           //
             "5\r\nhello\r\n0\n\n",             //
             "5\r\nhello\r\n0\r\n\n",           //
             "5\r\r\nhello\r\n0\r\n\r\n",       //
             "5;a\rb\r\nhello\r\n0\r\n\r\n",    //
             "5;a\nb\r\nhello\r\n0\r\n\r\n",    //
             "0\r\nA: b\nC: d\r\n\r\n",         //
             "\r\nhello\r\n0\r\n\r\n",          // sizes
             " 5\r\nhello\r\n0\r\n\r\n",        //
             "+5\r\nhello\r\n0\r\n\r\n",        //
             "-5\r\nhello\r\n0\r\n\r\n",        //
             "0x5\r\nhello\r\n0\r\n\r\n",       //
             "5 5\r\nhello\r\n0\r\n\r\n",       //
             "5x\r\nhello\r\n0\r\n\r\n",        //
             ";\r\nhello\r\n0\r\n\r\n",         //
             "8000000000000000\r\nhello",       // overflow
             "ffffffffffffffff\r\nhello",       //
             "10000000000000005\r\nhello",      //
             "00000000000000005\r\nhello\r\n",  //
             "4\r\nhello\r\n0\r\n\r\n",         // data longer than its size
             "6\r\nhello\r\n0\r\n\r\n",         // and shorter
             "5\r\nhellox\r\n0\r\n\r\n",        //
             "0\r\nno field\r\n\r\n",           // trailers
             "0\r\n: x\r\n\r\n",                //
             "0\r\nHTTP/1.1 200 OK\r\n\r\n",    //
         }) {
        INFO(text);
        const Reading whole = read_chunks(text);
        CHECK(whole.ec);
        CHECK_FALSE(whole.done);
        for (std::size_t piece = 1; piece < text.size(); ++piece) {
            CHECK(read_chunks(text, piece).ec == whole.ec);
        }
    }
}

TEST_CASE("ChunkedBody: lines and trailers without end are refused") {
    const error_code limit = boost::beast::http::error::header_limit;
    CHECK(read_chunks("1;" + std::string(5000, 'x')).ec == limit);
    CHECK(read_chunks(std::string(5000, '0')).ec == limit);
    CHECK_FALSE(read_chunks("1;" + std::string(4000, 'x')).ec);
    std::string trailers = "0\r\n";
    for (int i = 0; i < 10'000; ++i) trailers += "Name: value\r\n";
    CHECK(read_chunks(trailers).ec == limit);
}

TEST_CASE("ChunkedBody: an error of the sink ends it, and what lies behind the end is not used") {
    ChunkedBody body;
    error_code ec;
    body.put(
        "5\r\nhello\r\n0\r\n\r\n", [](std::string_view) { return make_error_code(errc::expired); },
        ec);
    CHECK(ec == errc::expired);
    CHECK(read_chunks("0\r\n\r\nHTTP/1.1 200 OK\r\n").used == 5);
    CHECK(read_chunks("0\r\n\r\nHTTP/1.1 200 OK\r\n").done);
}

TEST_CASE("ChunkedBody: arbitrary bytes are read or refused, the same in each cut") {
    std::mt19937 random(11);
    const std::string_view parts[] = {"0", "1", "a", "\r\n", "\n", "\r", " ", ";", "x", ":"};
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (auto n = random() % 16; n > 0; --n) text += parts[random() % std::size(parts)];
        const Reading whole = read_chunks(text);
        const Reading bytes = read_chunks(text, 1);
        INFO(text);
        CHECK(whole.ec == bytes.ec);
        CHECK(whole.done == bytes.done);
        CHECK(whole.data == bytes.data);
    }
}

}  // namespace
}  // namespace k8s_sd::detail
