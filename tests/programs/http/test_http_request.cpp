#include "http/http_request.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/field.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using boost::beast::http::field;
using http::HttpRequestReader;
using Progress = HttpRequestReader::Progress;

constexpr std::size_t head_bytes = 1000;
constexpr std::size_t body_bytes = 100;

/// A server's interpretation of these bytes: "GET host /target body" or a status for each request,
/// up to the first refusal; "..." if one is incomplete.
std::vector<std::string> requests_in(const std::vector<std::string_view>& pieces) {
    std::vector<std::string> requests;
    boost::beast::flat_buffer buffer;
    std::optional<HttpRequestReader> reader;
    for (const std::string_view piece : pieces) {
        boost::asio::buffer_copy(buffer.prepare(piece.size()), boost::asio::buffer(piece));
        buffer.commit(piece.size());
        while (buffer.size() != 0) {
            if (!reader) reader.emplace(head_bytes, body_bytes);
            const Progress progress = reader->take(buffer);
            if (progress == Progress::refused) {
                requests.push_back(std::to_string(reader->refusal().status));
                return requests;
            }
            if (progress != Progress::complete) break;
            const auto& message = reader->message();
            requests.push_back(std::string(message.method_string()) + " " +
                               std::string(message[field::host]) + " " +
                               std::string(message.target()) + " " + message.body());
            reader.reset();
        }
    }
    if (reader) requests.emplace_back("...");
    return requests;
}

/// The same for any chunking: at once, in two pieces, byte by byte.
std::vector<std::string> requests_in(const std::string& bytes) {
    const std::string_view all = bytes;
    const auto requests = requests_in(std::vector<std::string_view>{all});
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < all.size(); ++i) {
        single.push_back(all.substr(i, 1));
        INFO("split at " << i);
        CHECK(requests_in(std::vector<std::string_view>{all.substr(0, i), all.substr(i)}) ==
              requests);
    }
    CHECK(requests_in(single) == requests);
    return requests;
}

std::string with(const std::string& headers, const std::string& version = "1.1") {
    return "POST /a HTTP/" + version + "\r\n" + headers + "\r\n";
}

const std::string chunks = "5\r\nhello\r\n0\r\n\r\n";
const std::string smuggled = "GET /evil HTTP/1.1\r\nHost: b\r\n\r\n";

using Requests = std::vector<std::string>;

}  // namespace

TEST_CASE("HttpRequestReader: requests end where RFC 9112 says, however their bytes come") {
    CHECK(requests_in("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + smuggled) ==
          Requests{"GET a / ", "GET b /evil "});
    CHECK(requests_in(with("Host: a\r\nContent-Length: 5\r\n") + "hello" + smuggled) ==
          Requests{"POST a /a hello", "GET b /evil "});
    CHECK(requests_in(with("Host: a\r\nTransfer-Encoding: Chunked\r\n") + chunks + smuggled) ==
          Requests{"POST a /a hello", "GET b /evil "});
    CHECK(requests_in(with("Host: a\r\nTransfer-Encoding: , \tchunked ,\r\n") + chunks) ==
          Requests{"501"});
    CHECK(requests_in("GET / HTTP/1.0\r\n\r\n" + smuggled) == Requests{"GET  / ", "GET b /evil "});
    CHECK(requests_in(with("Host: a\r\nContent-Length: 5\r\n") + "hel") == Requests{"..."});
}

TEST_CASE("HttpRequestReader: what a proxy could frame otherwise is refused, and nothing behind it "
          "is read") {
    for (const char* coding :
         {"xchunked", "chunked, identity", "chunked,chunked", "identity", "gzip", "", "\"chunked\"",
          "chunked;a=b", "chunke", "chunked x", "identity, chunked, identity"}) {
        const std::string head = "Host: a\r\nTransfer-Encoding: " + std::string(coding) + "\r\n";
        INFO(head);
        CHECK(requests_in(with(head) + chunks + smuggled) == Requests{"400"});
    }
    for (const char* headers :
         {// coded twice
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
          // with a length
          "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
          "Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n",
          // invalid lengths, or two
          "Content-Length: 5\r\nContent-Length: 6\r\n",
          "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n",
          "Content-Length: +5\r\n", "Content-Length: -5\r\n", "Content-Length: 0x5\r\n",
          "Content-Length: 5 5\r\n", "Content-Length:\r\n",
          "Content-Length: 99999999999999999999999\r\n",
          // folded lines, which some servers join and others do not
          "X: a\r\n Content-Length: 5\r\n", "X: a\r\n\tContent-Length: 5\r\n",
          "Transfer-Encoding:\r\n chunked\r\n", "X: a\r\n \r\n",
          // names that some servers normalise
          "Content-Length : 5\r\n", "Content-Length\t: 5\r\n", "Transfer-Encoding : chunked\r\n",
          ": a\r\n", "X\r\n", "X: a\nContent-Length: 5\r\n", "X: a\rContent-Length: 5\r\n"}) {
        INFO(headers);
        CHECK(requests_in(with(std::string("Host: a\r\n") + headers) + chunks + smuggled) ==
              Requests{"400"});
    }
    CHECK(requests_in("GET / HTTP/1.1\r\n Host: a\r\n\r\n" + smuggled) == Requests{"400"});
    CHECK(requests_in("\r\n" + smuggled) == Requests{"400"});
    CHECK(requests_in(" " + smuggled) == Requests{"400"});
    CHECK(requests_in(with("Transfer-Encoding: chunked\r\n", "1.0") + chunks + smuggled) ==
          Requests{"400"});
    CHECK(requests_in(with("Host: a\r\n", "2.0") + smuggled) == Requests{"400"});
}

TEST_CASE("HttpRequestReader: an unknown coding under chunked is refused with 501") {
    for (const char* headers : {"Transfer-Encoding: gzip, chunked\r\n",
                                "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                                "Transfer-Encoding: identity, chunked\r\n"}) {
        INFO(headers);
        CHECK(requests_in(with(std::string("Host: a\r\n") + headers) + chunks + smuggled) ==
              Requests{"501"});
    }
}

TEST_CASE("HttpRequestReader: chunks have one form, and fields behind them are no headers") {
    const std::string head = with("Host: a\r\nTransfer-Encoding: chunked\r\n");
    for (const char* bad :
         {"5 hello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n",
          "-5\r\nhello\r\n", "\r\nhello\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\nhello\n0\n\n",
          "10000000000000005\r\nhello\r\n0\r\n\r\n"}) {
        INFO(bad);
        const auto requests = requests_in(head + bad + smuggled);
        REQUIRE(requests.size() == 1);
        CHECK((requests[0] == "400" || requests[0] == "413"));
    }
    // Beast refuses trailers that say where the body ends; newer versions ignore them, as
    // RFC 9112 wants it.
    const auto ignored = requests_in(head + "5\r\nhello\r\n0\r\n\r\n" + smuggled);
    CHECK(ignored.size() == 2);
    for (const char* trailer : {"Content-Length: 5\r\n", "Content-Length: 0\r\n",
                                "Content-Length: 500\r\n", "Transfer-Encoding: chunked\r\n"}) {
        INFO(trailer);
        const auto requests =
            requests_in(head + "5\r\nhello\r\n0\r\n" + trailer + "\r\n" + smuggled);
        CHECK((requests == Requests{"400"} || requests == Requests{"413"} || requests == ignored));
    }
    for (const char* trailers :
         {"Host: b\r\n", "Authorization: Bearer x\r\nOrigin: http://b\r\n"}) {
        boost::beast::flat_buffer buffer;
        const std::string bytes = head + "5\r\nhello\r\n0\r\n" + trailers + "\r\n";
        boost::asio::buffer_copy(buffer.prepare(bytes.size()), boost::asio::buffer(bytes));
        buffer.commit(bytes.size());
        HttpRequestReader reader(head_bytes, body_bytes);
        REQUIRE(reader.take(buffer) == Progress::complete);
        CHECK(reader.message()[field::host] == "a");
        CHECK(reader.message().count(field::host) == 1);
        CHECK(reader.message()[field::authorization].empty());
        CHECK(reader.message()[field::origin].empty());
        CHECK(reader.message().target() == "/a");
        CHECK(reader.message().body() == "hello");
    }
}

TEST_CASE("HttpRequestReader: a request is for one host, which is a host") {
    const auto host = [](const std::string& headers, const std::string& version = "1.1") {
        return requests_in("GET / HTTP/" + version + "\r\n" + headers + "\r\n" + smuggled);
    };
    for (const char* good :
         {"a", "a.example", "a-b_c.example:8080", "127.0.0.1:1", "[::1]", "[::1]:8080",
          "[::ffff:127.0.0.1]:1", "a:", "A%20b", "xn--bcher-kva"}) {
        INFO(good);
        CHECK(host("Host: " + std::string(good) + "\r\n") ==
              Requests{"GET " + std::string(good) + " / ", "GET b /evil "});
    }
    for (const char* bad : {"",
                            ":8080",
                            "localhost:8080@evil",
                            "user@localhost",
                            "user:1@localhost",
                            "a b",
                            "a/b",
                            "a?b",
                            "a#b",
                            "a\\b",
                            "a:b",
                            "a:80:80",
                            "::1",
                            "[",
                            "[]",
                            "[::1",
                            "[::1]x",
                            "[localhost]",
                            "a\"",
                            "<a>",
                            "b\xc3\xbc"}) {
        INFO(bad);
        CHECK(host("Host: " + std::string(bad) + "\r\n") == Requests{"400"});
        CHECK(host("Host: " + std::string(bad) + "\r\n", "1.0") == Requests{"400"});
    }
    CHECK(host("") == Requests{"400"});
    CHECK(host("", "1.0") == Requests{"GET  / ", "GET b /evil "});
    for (const char* version : {"1.0", "1.1"}) {
        CHECK(host("Host: a\r\nHost: b\r\n", version) == Requests{"400"});
        CHECK(host("Host: a\r\nX: y\r\nhost: a\r\n", version) == Requests{"400"});
    }
}

TEST_CASE("HttpRequestReader: the authority of an absolute target takes the place of Host") {
    const auto target = [](const std::string& text) {
        return requests_in("GET " + text + " HTTP/1.1\r\nHost: h\r\n\r\n" + smuggled);
    };
    const std::pair<const char*, const char*> good[] = {
        {"http://a/b?c=d", "GET a /b?c=d "},
        {"HTTPS://a:8080/", "GET a:8080 / "},
        {"http://a", "GET a / "},
        {"http://[::1]:1?x", "GET [::1]:1 /?x "},
        {"/http://a/", "GET h /http://a/ "},
        {"//a/b", "GET h //a/b "},
    };
    for (const auto& [text, request] : good) {
        INFO(text);
        CHECK(target(text) == Requests{request, "GET b /evil "});
    }
    for (const char* bad : {"http://", "http:///b", "http://u@a/b", "http://localhost:8080@evil/",
                            "http:/a", "ftp://a/b", "a/b", "*", "?x", "a:443"}) {
        INFO(bad);
        CHECK(target(bad) == Requests{"400"});
    }
    // Host must be valid nevertheless.
    CHECK(requests_in("GET http://a/ HTTP/1.1\r\n\r\n") == Requests{"400"});
    CHECK(requests_in("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == Requests{"400"});
    CHECK(requests_in("GET http://a/ HTTP/1.0\r\n\r\n") == Requests{"GET a / "});
}

TEST_CASE("HttpRequestReader: a waiting client receives 100-continue, and other expectations are "
          "not met") {
    const auto progress = [](const std::string& bytes) {
        boost::beast::flat_buffer buffer;
        boost::asio::buffer_copy(buffer.prepare(bytes.size()), boost::asio::buffer(bytes));
        buffer.commit(bytes.size());
        return HttpRequestReader(head_bytes, body_bytes).take(buffer);
    };
    const std::string length = "Host: a\r\nContent-Length: 5\r\n";
    const std::string coding = "Host: a\r\nTransfer-Encoding: chunked\r\n";
    for (const std::string& body : {length, coding}) {
        CHECK(progress(with(body + "Expect: 100-continue\r\n")) == Progress::wants_continue);
        CHECK(progress(with(body + "Expect: 100-Continue\r\n")) == Progress::wants_continue);
        CHECK(progress(with(body)) == Progress::more);
    }
    CHECK(progress(with(length + "Expect: 100-continue\r\n") + "h") == Progress::more);
    CHECK(progress(with(length + "Expect: 100-continue\r\n") + "hello") == Progress::complete);
    CHECK(progress(with("Host: a\r\nExpect: 100-continue\r\n")) == Progress::complete);
    CHECK(progress(with(length + "Expect: 100-continue\r\n", "1.0")) == Progress::more);
    CHECK(requests_in(with(length + "Expect: 100-continue\r\n") + "hello" + smuggled) ==
          Requests{"POST a /a hello", "GET b /evil "});
    CHECK(requests_in(with(length + "Expect: 200-ok\r\n") + "hello" + smuggled) == Requests{"417"});
    CHECK(requests_in(with(length + "Expect: 100-continue, x\r\n") + smuggled) == Requests{"417"});
    CHECK(requests_in(with("Host: a\r\nExpect: 100-continue\r\nContent-Length: 101\r\n")) ==
          Requests{"413"});
}

TEST_CASE("HttpRequestReader: a head and a body are bounded, however they come") {
    std::string fields;
    while (fields.size() < head_bytes) fields += "X: y\r\n";
    CHECK(requests_in(with("Host: a\r\n" + fields)) == Requests{"431"});
    CHECK(requests_in("GET /" + std::string(head_bytes, 'x')) == Requests{"431"});
    CHECK(requests_in(with("Host: a\r\nX: " + std::string(head_bytes, 'x') + "\r\n")) ==
          Requests{"431"});
    // A parser that limits single fields does not notice a long head.
    std::vector<std::string_view> lines{"GET / HTTP/1.1\r\n"};
    for (int i = 0; i < 1000; ++i) lines.emplace_back("X: y\r\n");
    CHECK(requests_in(lines) == Requests{"431"});
    CHECK(requests_in(with("Host: a\r\nContent-Length: 101\r\n")) == Requests{"413"});
    CHECK(requests_in(with("Host: a\r\nTransfer-Encoding: chunked\r\n") + "65\r\n") ==
          Requests{"413"});
}
