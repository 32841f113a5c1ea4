#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/base64.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::detail {
namespace {

TEST_CASE("encode_base64: the vectors of RFC 4648") {
    CHECK(encode_base64("") == "");
    CHECK(encode_base64("f") == "Zg==");
    CHECK(encode_base64("fo") == "Zm8=");
    CHECK(encode_base64("foo") == "Zm9v");
    CHECK(encode_base64("foob") == "Zm9vYg==");
    CHECK(encode_base64("fooba") == "Zm9vYmE=");
    CHECK(encode_base64("foobar") == "Zm9vYmFy");
    CHECK(encode_base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("encode_base64: decode_base64 gives every byte back") {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
        CHECK(decode_base64(encode_base64(bytes)) == bytes);
    }
}

TEST_CASE("encode_base64: a secret stays in memory that is cleansed, in one piece") {
    const auto text = encode_base64<CleansedBytes>("secret");
    CHECK(std::string(text.begin(), text.end()) == "c2VjcmV0");
    CHECK(text.capacity() == text.size());
}

}  // namespace
}  // namespace k8s_sd::detail
