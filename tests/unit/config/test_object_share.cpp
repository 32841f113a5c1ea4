#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <string>
#include <vector>

using k8s_sd::ConfigError;
using k8s_sd::HashRange;
using k8s_sd::ObjectShare;
using Ranges = std::vector<HashRange>;

namespace {

/// Texts of the length of uids, all of them different.
std::vector<std::string> random_uids(std::size_t count) {
    std::mt19937_64 random(42);
    std::vector<std::string> uids;
    for (std::size_t i = 0; i < count; ++i) {
        std::string uid = "00000000-0000-4000-8000-000000000000";
        for (char& c : uid) {
            if (c == '0') c = "0123456789abcdef"[random() % 16];
        }
        uids.push_back(std::move(uid));
    }
    return uids;
}

std::string share_problem(Ranges ranges) {
    try {
        (void)ObjectShare(std::move(ranges));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("ObjectShare: by default it has all objects, and no selector") {
    const ObjectShare all;
    CHECK(all.is_all());
    CHECK(all.contains(""));
    CHECK(all.contains("x"));
    CHECK(all.selector().empty());
    CHECK(all == ObjectShare({{0, 0}}));
    CHECK(all == ObjectShare({{0, 1}, {1, 0}}));
    CHECK(all == ObjectShare::part(0, 1));
}

TEST_CASE("ObjectShare: bounds in the selector have sixteen digits, whatever they are") {
    CHECK(ObjectShare({{0, 1}}).selector() ==
          "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')");
    CHECK(ObjectShare({{0xff, 0xabcdef}}).selector() ==
          "shardRange(object.metadata.uid, '0x00000000000000ff', '0x0000000000abcdef')");
    CHECK(ObjectShare({{~0ULL, 0}}).selector() ==
          "shardRange(object.metadata.uid, '0xffffffffffffffff', '0x10000000000000000')");
    CHECK(ObjectShare({{5, 7}, {1, 2}}).selector() ==
          "shardRange(object.metadata.uid, '0x0000000000000001', '0x0000000000000002') || "
          "shardRange(object.metadata.uid, '0x0000000000000005', '0x0000000000000007')");
}

TEST_CASE("ObjectShare: ranges are sorted, and those that touch or overlap are one") {
    CHECK(ObjectShare({{5, 7}, {1, 2}}).ranges() == Ranges{{1, 2}, {5, 7}});
    CHECK(ObjectShare({{5, 7}, {1, 5}}).ranges() == Ranges{{1, 7}});
    CHECK(ObjectShare({{1, 9}, {2, 3}}).ranges() == Ranges{{1, 9}});
    CHECK(ObjectShare({{1, 3}, {2, 9}, {2, 4}}).ranges() == Ranges{{1, 9}});
    CHECK(ObjectShare({{1, 0}, {2, 9}}).ranges() == Ranges{{1, 0}});
    CHECK(ObjectShare({{1, 3}, {2, 0}, {8, 9}}).ranges() == Ranges{{1, 0}});
    CHECK(ObjectShare({{1, 2}, {1, 2}}).ranges() == Ranges{{1, 2}});
}

TEST_CASE("ObjectShare: the first hash of a range belongs to it, and its end does not") {
    const std::uint64_t hash = k8s_sd::detail::fnv1a64("a");
    CHECK(ObjectShare({{hash, hash + 1}}).contains("a"));
    CHECK_FALSE(ObjectShare({{hash + 1, 0}}).contains("a"));
    CHECK_FALSE(ObjectShare({{0, hash}}).contains("a"));
    CHECK(ObjectShare({{0, 1}, {hash - 5, hash + 5}, {hash + 7, 0}}).contains("a"));
    CHECK_FALSE(ObjectShare({{0, 1}, {hash + 7, 0}}).contains("a"));
}

TEST_CASE("ObjectShare: what cannot be a share is refused in words") {
    CHECK(share_problem({}) == "share: has no range, and so no object");
    CHECK(share_problem({{2, 2}}) ==
          "share: the range from 0x0000000000000002 to 0x0000000000000002 does not begin before it "
          "ends");
    CHECK(share_problem({{3, 2}}).find("does not begin before it ends") != std::string::npos);
    Ranges ranges;
    for (std::uint64_t i = 0; i < 65; ++i) ranges.push_back({2 * i + 1, 2 * i + 2});
    CHECK(share_problem(ranges) == "share: has 65 ranges; at most 64 are allowed");
    ranges.pop_back();
    CHECK(ObjectShare(ranges).ranges().size() == 64);
    CHECK_THROWS_AS(ObjectShare::part(0, 0), ConfigError);
    CHECK_THROWS_AS(ObjectShare::part(3, 3), ConfigError);
}

TEST_CASE("ObjectShare: its fraction is the part of all hashes that it has") {
    CHECK(ObjectShare().fraction() == 1);
    CHECK(ObjectShare::part(0, 4).fraction() == 0.25);
    CHECK(ObjectShare::part(3, 4).fraction() == 0.25);
    CHECK(ObjectShare({{0, 1ULL << 62U}, {1ULL << 63U, 0}}).fraction() == 0.75);
    CHECK(ObjectShare({{1, 0}}).fraction() <= 1);
    CHECK(ObjectShare({{5, 6}}).fraction() > 0);
}

TEST_CASE("ObjectShare: parts are as large as each other, and each uid is in one of them") {
    const std::uint64_t count = GENERATE(2U, 3U, 7U, 64U, 1000U);
    CAPTURE(count);
    std::vector<ObjectShare> parts;
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        parts.push_back(ObjectShare::part(i, count));
        REQUIRE(parts.back().ranges().size() == 1);
        CHECK(parts.back().ranges().front().first == end);
        end = parts.back().ranges().front().last;
    }
    CHECK(end == 0);
    for (const std::string& uid : random_uids(500)) {
        std::size_t owners = 0;
        for (const ObjectShare& part : parts) owners += part.contains(uid) ? 1U : 0U;
        CHECK(owners == 1);
    }
}
