#include "k8s_sd/detail/relabel/hashes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using k8s_sd::detail::xxh64;

// The values come from the algorithm's specification and its reference program.
TEST_CASE("xxh64: the hash of short and long texts, with seed 0") {
    CHECK(xxh64("") == 0xef46db3751d8e999);
    CHECK(xxh64("a") == 0xd24ec4f1a98c6e5b);
    CHECK(xxh64("abc") == 0x44bc2cf5ad770999);
    CHECK(xxh64("foo") == 0x33bf00a859c4ba3f);
    CHECK(xxh64("bar") == 0x48a37c90ad27a659);
    CHECK(xxh64("baz") == 0x42598cf26a247404);
    CHECK(xxh64("a=aa,c=cc,") == 0xa6048f725e3b8aa7);
    CHECK(xxh64("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
}
