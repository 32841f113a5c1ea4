#include "k8s_sd/detail/transport/inflate.hpp"
#include "support/gzip.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

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
