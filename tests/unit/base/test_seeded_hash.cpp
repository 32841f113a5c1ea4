#include "k8s_sd/detail/base/hash.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>

namespace k8s_sd::detail {

// From CPython 3.11, whose hashes of bytes are SipHash-1-3; PYTHONHASHSEED=0 makes the key zero.
TEST_CASE("seeded hash: it is SipHash-1-3") {
    const auto hash = [](std::string_view text) { return KeyedHash({}).add(text).finish(); };
    CHECK(hash("a") == 0x407448d2b89b1813U);
    CHECK(hash("kube-dns") == 0x32fae8c9f7588fd9U);
    CHECK(hash("a-name-that-is-longer-than-a-word") == 0x9bd09f64f92b9432U);
}

TEST_CASE("seeded hash: it depends on the key, and on where one text ends") {
    const auto hash = [](std::uint64_t a, std::uint64_t b) {
        return KeyedHash({a, b}).add("kube-system").finish();
    };
    CHECK(hash(1, 2) == hash(1, 2));
    CHECK(hash(1, 2) != hash(2, 2));
    CHECK(hash(1, 2) != hash(1, 3));
    CHECK(seeded_hash("a", "bc") != seeded_hash("ab", "c"));
    CHECK(seeded_hash("", "a") != seeded_hash("a", ""));
    CHECK(seeded_hash("a") == SeededHash{}("a"));
}

TEST_CASE("seeded hash: the key is drawn once") {
    CHECK(&hash_key() == &hash_key());
    CHECK((hash_key().a != 0 || hash_key().b != 0));
}

}  // namespace k8s_sd::detail
