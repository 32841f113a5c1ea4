#include "k8s_sd/detail/transport/inflate.hpp"
#include "support/gzip.hpp"

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::gzip;

struct Unpacked {
    std::string text;
    error_code ec;
    std::string problem;
    std::size_t max_at_once = 0;
};

Unpacked unpack(std::string_view packed, std::size_t piece = std::string_view::npos) {
    Unpacked result;
    Inflater inflater;
    while (!packed.empty() && !result.ec) {
        const std::size_t size = std::min(piece, packed.size());
        result.ec = inflater.feed(packed.substr(0, size), [&](std::string_view bytes) {
            result.text += bytes;
            result.max_at_once = std::max(result.max_at_once, bytes.size());
            return error_code();
        });
        packed.remove_prefix(size);
    }
    if (!result.ec) result.ec = inflater.finish();
    result.problem = inflater.problem();
    return result;
}

/// Texts in one gzip member, each followed by a flush; the member has no end.
struct FlushedGzip {
    FlushedGzip(std::string_view one, std::string_view two) {
        z_stream stream{};
        REQUIRE(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        for (const std::string_view text : {one, two}) {
            std::string packed(text.size() + 1000, '\0');
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
            stream.avail_in = static_cast<uInt>(text.size());
            stream.next_out = reinterpret_cast<Bytef*>(packed.data());
            stream.avail_out = static_cast<uInt>(packed.size());
            REQUIRE(deflate(&stream, Z_SYNC_FLUSH) == Z_OK);
            packed.resize(packed.size() - stream.avail_out);
            parts.push_back(std::move(packed));
        }
        deflateEnd(&stream);
    }
    std::vector<std::string> parts;
};

std::string some_text(std::size_t size) {
    std::mt19937 random(7);
    std::string text;
    while (text.size() < size) text += "{\"name\":\"pod-" + std::to_string(random()) + "\"},";
    text.resize(size);
    return text;
}

TEST_CASE("Inflater: a body is unpacked in whatever pieces it comes") {
    const std::string text = some_text(300'000);
    const std::string packed = gzip(text);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{4096}, packed.size()}) {
        const Unpacked unpacked = unpack(packed, piece);
        CHECK_FALSE(unpacked.ec);
        CHECK(unpacked.text == text);
        CHECK(unpacked.max_at_once <= 64 * 1024);
    }
}

TEST_CASE("Inflater: members one behind the other are one body, also empty ones") {
    const std::string packed = gzip("one ") + gzip("") + gzip(some_text(200'000)) + gzip(" two");
    for (std::size_t piece : {std::size_t{1}, std::size_t{3}, packed.size()})
        CHECK(unpack(packed, piece).text == "one " + some_text(200'000) + " two");
}

TEST_CASE("Inflater: a body that ends early is truncated at every byte") {
    const std::string packed = gzip("some text that is short");
    for (std::size_t size = 0; size < packed.size(); ++size) {
        const Unpacked unpacked = unpack(std::string_view(packed).substr(0, size));
        CHECK(unpacked.ec == errc::truncated_response);
        CHECK(unpacked.problem == "the compressed answer ended in the middle");
    }
    CHECK(unpack(packed + packed.substr(0, 1)).ec == errc::truncated_response);
}

TEST_CASE("Inflater: what is no gzip is refused, in front and behind") {
    const std::string packed = gzip("text");
    for (const std::string& bad :
         {std::string("{\"kind\":\"PodList\"}"), packed + "garbage", packed + std::string(8, '\0'),
          packed.substr(0, 2) + "\x07" + packed.substr(3)}) {
        const Unpacked unpacked = unpack(bad);
        CHECK(unpacked.ec == errc::malformed_response);
        CHECK(unpacked.problem.starts_with("the compressed answer cannot be unpacked: "));
    }
}

TEST_CASE("Inflater: a bit that is wrong anywhere in the data or its sum is found") {
    const std::string packed = gzip(some_text(1000));
    for (std::size_t i = 10; i < packed.size(); ++i) {
        std::string bad = packed;
        bad[i] = static_cast<char>(bad[i] ^ 0x10);
        CHECK(unpack(bad).ec);
    }
}

TEST_CASE("Inflater: what grows a thousandfold is refused once it is a megabyte") {
    const Unpacked bomb = unpack(gzip(std::string(50'000'000, ' '), 9), 1000);
    CHECK(bomb.ec == errc::malformed_response);
    CHECK(bomb.problem == "the compressed answer grows more than a thousandfold");
    CHECK(bomb.text.size() < 8'000'000);
    CHECK_FALSE(unpack(gzip(std::string(1'000'000, ' '), 9)).ec);
    // The API server's level 1 stays far below this ratio.
    CHECK_FALSE(unpack(gzip(std::string(50'000'000, ' '))).ec);
}

TEST_CASE("Inflater: what was written before a flush arrives without a further byte") {
    const std::string text = some_text(5000);
    const FlushedGzip stream(text.substr(0, 1000), text.substr(1000, 1));
    Inflater inflater;
    std::string received;
    const auto sink = [&](std::string_view bytes) {
        received += bytes;
        return error_code();
    };
    SECTION("within a member") {
        for (const std::string& part : stream.parts) {
            CHECK_FALSE(inflater.feed(part, sink));
        }
        CHECK(received == text.substr(0, 1001));
        CHECK(inflater.finish() == errc::truncated_response);
    }
    SECTION("that ends a member") {
        std::size_t begin = 0;
        for (const std::size_t size : {1U, 100U, 4899U}) {
            CHECK_FALSE(inflater.feed(gzip(text.substr(begin, size)), sink));
            begin += size;
            CHECK(received == text.substr(0, begin));
        }
        CHECK_FALSE(inflater.finish());
    }
}

TEST_CASE("Inflater: between two members it takes no memory") {
    const std::string member = gzip(some_text(200'000));
    Inflater inflater;
    const auto sink = [](std::string_view) { return error_code(); };
    CHECK_FALSE(inflater.is_in_member());
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(inflater.feed(member.substr(0, 1), sink));
        CHECK(inflater.is_in_member());
        CHECK_FALSE(inflater.feed(member.substr(1, member.size() - 2), sink));
        CHECK(inflater.is_in_member());
        CHECK_FALSE(inflater.feed(member.substr(member.size() - 1), sink));
        CHECK_FALSE(inflater.is_in_member());
    }
}

TEST_CASE("Inflater: a member that grows a thousandfold is refused after any number of others") {
    Inflater inflater;
    std::size_t received = 0;
    const auto sink = [&](std::string_view bytes) {
        received += bytes.size();
        return error_code();
    };
    std::mt19937 random(7);
    std::string noise(200'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    CHECK_FALSE(inflater.feed(gzip(noise), sink));
    CHECK(inflater.feed(gzip(std::string(50'000'000, ' '), 9), sink) == errc::malformed_response);
    CHECK(received < 8'000'000);
}

TEST_CASE("Inflater: an error of the sink ends it") {
    Inflater inflater;
    int calls = 0;
    const error_code ec = inflater.feed(gzip(some_text(500'000)), [&](std::string_view) {
        ++calls;
        return make_error_code(errc::too_many_objects);
    });
    CHECK(ec == errc::too_many_objects);
    CHECK(calls == 1);
    CHECK(inflater.problem().empty());
}

}  // namespace
}  // namespace k8s_sd::detail
