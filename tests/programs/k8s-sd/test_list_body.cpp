#include "lists/list_body.hpp"

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>
#include <string>

namespace {

std::string uncompressed(const std::string& gzip, std::size_t size) {
    std::string text(size + 1, '\0');
    z_stream stream{};
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
    stream.avail_in = static_cast<uInt>(gzip.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    text.resize(stream.total_out);
    inflateEnd(&stream);
    return text;
}

}  // namespace

TEST_CASE("ListBody: equal bytes have equal tags, in every process") {
    CHECK(k8s_sd_program::ListBody("[]\n").tag() == k8s_sd_program::ListBody("[]\n").tag());
    CHECK(k8s_sd_program::ListBody("[]\n").tag() != k8s_sd_program::ListBody("[]").tag());
    CHECK(k8s_sd_program::ListBody("").tag() == "\"e3b0c44298fc1c149afbf4c8996fb924\"");
    CHECK(k8s_sd_program::ListBody("").gzip_tag() == "\"e3b0c44298fc1c149afbf4c8996fb924-gzip\"");
}

TEST_CASE("ListBody: is compressed once, and always to the same bytes") {
    for (const std::size_t size : {0UL, 1UL, 5000UL, 3'000'000UL}) {
        std::string bytes;
        for (std::size_t i = 0; bytes.size() < size; ++i) bytes += std::to_string(i * i * 7919);
        bytes.resize(size);
        const k8s_sd_program::ListBody body(bytes);
        const auto gzip = body.gzip();
        CHECK(uncompressed(*gzip, size) == bytes);
        CHECK(body.gzip() == gzip);
        CHECK(*k8s_sd_program::ListBody(bytes).gzip() == *gzip);
    }
}
