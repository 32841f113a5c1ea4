#include "sim/api_server_fixture.hpp"
#include "sim/http/gzip.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <memory>
#include <string>

using namespace k8s_sd::test;

namespace {

struct Inflated {
    std::string text;
    int members = 0;
    bool whole = false;  ///< the last member was complete
};

Inflated inflate_all(const std::string& bytes) {
    Inflated result;
    z_stream stream{};
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    std::string input = bytes;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    std::array<char, 4096> out{};
    int code = Z_OK;
    while (code == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        code = inflate(&stream, Z_NO_FLUSH);
        result.text.append(out.data(), out.size() - stream.avail_out);
        if (code != Z_STREAM_END) continue;
        ++result.members;
        result.whole = stream.avail_in == 0;
        if (!result.whole) code = inflateReset(&stream);
    }
    inflateEnd(&stream);
    return result;
}

bool compressed(const RawClient& client) {
    return client.header().find("\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding") !=
           std::string::npos;
}

constexpr const char* accept_gzip = "Accept-Encoding: gzip\r\n";

/// A server whose list of pods is longer than the threshold.
struct LongList : Fixture {
    explicit LongList(ApiServerOptions options = {}) : Fixture(std::move(options)) {
        for (int i = 0; i < 300; ++i) {
            pod("q" + std::to_string(i), R"({"pad":")" + std::string(500, 'x') + "\"}");
        }
    }
};

}  // namespace

TEST_CASE("ApiServer: long lists are compressed for clients that accept gzip") {
    LongList f;
    auto client = f.client();
    client.get("/api/v1/pods");
    const std::string plain = client.body();
    CHECK_FALSE(compressed(client));
    REQUIRE(plain.size() > 128 * 1024);

    client.get("/api/v1/pods", accept_gzip);
    CHECK(compressed(client));
    CHECK(client.body().size() < plain.size() / 4);
    const Inflated inflated = inflate_all(client.body());
    CHECK(inflated.members == 1);
    CHECK(inflated.whole);
    CHECK((inflated.text == plain));

    client.get("/api/v1/pods",
               std::string(accept_gzip) + "Accept: application/vnd.kubernetes.protobuf\r\n");
    CHECK(compressed(client));
    CHECK(fields(ProtobufBody(inflate_all(client.body()).text).message, 2).size() == 300);
}

TEST_CASE("ApiServer: short lists and watches are not compressed") {
    LongList f;
    auto client = f.client();
    client.get("/api/v1/pods?limit=10", accept_gzip);
    CHECK_FALSE(compressed(client));
    CHECK(names(client.object()).size() == 10);
    client.get("/api/v1/pods?watch=1", accept_gzip);
    CHECK_FALSE(compressed(client));
    CHECK(client.events().size() == 300);
}

namespace {

const std::string watch_list_of_pods =
    "/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&"
    "resourceVersionMatch=NotOlderThan";

}  // namespace

TEST_CASE(
    "ApiServer: a watch that begins with all objects is compressed, a member for each write") {
    LongList f;
    auto client = f.client();
    client.get(watch_list_of_pods, accept_gzip);
    CHECK(compressed(client));
    const Inflated initial = inflate_all(client.body());
    CHECK(initial.whole);
    CHECK(std::count(initial.text.begin(), initial.text.end(), '\n') == 301);
    const std::string version = f.pod("new");
    const Inflated more = inflate_all(client.body());
    CHECK(more.members == initial.members + 1);
    CHECK(more.whole);
    CHECK(more.text.find("\"resourceVersion\":\"" + version + "\"", initial.text.size()) !=
          std::string::npos);

    auto plain = f.client();
    plain.get(watch_list_of_pods);
    CHECK_FALSE(compressed(plain));
    LongList older(ApiServerOptions{.gzip_watch_lists = false});
    auto other = older.client();
    other.get(watch_list_of_pods, accept_gzip);
    CHECK_FALSE(compressed(other));
    CHECK(other.events().size() == 301);
}

TEST_CASE("ApiServer: Content-Encoding may lie, and compressed watches may end or go on wrongly") {
    using Fault = ApiServer::EncodingFault;
    LongList f;
    const auto get = [&f](const std::string& target, Fault fault) {
        f.server.set_encoding_fault(fault);
        auto client = std::make_unique<RawClient>(f.context, f.server.connector());
        client->get(target, accept_gzip);
        return client;
    };
    for (const std::string& target : {std::string("/api/v1/pods"), watch_list_of_pods}) {
        const auto plain = get(target, Fault::plain_gzip);
        CHECK(compressed(*plain));
        CHECK(plain->body().starts_with('{'));
        const auto hidden = get(target, Fault::hidden_gzip);
        CHECK_FALSE(compressed(*hidden));
        CHECK(inflate_all(hidden->body()).whole);
        CHECK(get(target, Fault::garbage_after_gzip)->body().ends_with("garbage"));
        const auto cut = get(target, Fault::cut_gzip);
        CHECK_FALSE(inflate_all(cut->body()).whole);
        CHECK_FALSE(cut->closed());
    }
    CHECK(get(watch_list_of_pods, Fault::cut_gzip)->ended());
}

TEST_CASE("ApiServer: the threshold of compression is the first size that is sent plain") {
    ApiServerOptions options;
    Fixture plain;
    plain.pod("a");
    auto client = plain.client();
    client.get("/api/v1/pods", accept_gzip);
    const std::size_t size = client.body().size();
    for (const std::size_t threshold : {size - 1, size}) {
        options.gzip_threshold = threshold;
        Fixture f(options);
        f.pod("a");
        auto other = f.client();
        other.get("/api/v1/pods", accept_gzip);
        CHECK(compressed(other) == (threshold < size));
    }
}

TEST_CASE("ApiServer: Accept-Encoding is read as the real server reads it") {
    using k8s_sd::sim::accepts_gzip;
    CHECK(accepts_gzip("gzip"));
    CHECK(accepts_gzip("deflate, gzip ,br"));
    CHECK_FALSE(accepts_gzip(""));
    CHECK_FALSE(accepts_gzip(",,"));
    CHECK_FALSE(accepts_gzip("GZIP"));
    CHECK_FALSE(accepts_gzip("gzip;q=1"));
    CHECK_FALSE(accepts_gzip("identity"));
    LongList old(ApiServerOptions{.gzip = false});
    auto client = old.client();
    client.get("/api/v1/pods", accept_gzip);
    CHECK_FALSE(compressed(client));
    CHECK(names(client.object()).size() == 300);
}

TEST_CASE("ApiServer: compressed bodies can be cut or be of several members") {
    LongList f;
    auto client = f.client();
    client.get("/api/v1/pods");
    const std::string plain = client.body();
    f.server.set_encoding_fault(ApiServer::EncodingFault::cut_gzip);
    client.get("/api/v1/pods", accept_gzip);
    CHECK(client.status() == 200);
    const Inflated cut = inflate_all(client.body());
    CHECK_FALSE(cut.whole);
    CHECK((plain.starts_with(cut.text) && cut.text.size() < plain.size()));
    CHECK_FALSE(client.closed());  // the response itself is complete

    f.server.set_encoding_fault(ApiServer::EncodingFault::gzip_members);
    client.get("/api/v1/pods", accept_gzip);
    const Inflated members = inflate_all(client.body());
    CHECK(members.members == 3);
    CHECK(members.whole);
    CHECK((members.text == plain));

    f.server.set_encoding_fault(ApiServer::EncodingFault::none);
    client.get("/api/v1/pods", accept_gzip);
    CHECK(inflate_all(client.body()).members == 1);
}

TEST_CASE("gzip: everything comes back, also nothing and what does not compress") {
    std::string noise;
    unsigned state = 1;
    for (int i = 0; i < 300'000; ++i) {
        state = state * 1664525U + 1013904223U;
        noise += static_cast<char>(state >> 24U);
    }
    for (const std::string& text : {std::string(), std::string("a"), noise}) {
        const Inflated inflated = inflate_all(k8s_sd::sim::gzip(text));
        CHECK(inflated.members == 1);
        CHECK(inflated.whole);
        CHECK((inflated.text == text));
    }
}
