#include "k8s_sd/scrape/sharding.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd::test::config_error;

namespace {

using LabelList = std::vector<MutableLabels::Label>;
using Owners = std::vector<unsigned>;

Sharding sharding(unsigned members, unsigned replicas = 1) {
    return Sharding({.members = members, .replication_factor = replicas});
}

const LabelList abcd{{"a", "aa"}, {"b", "bb"}, {"c", "cc"}, {"d", "dd"}};

std::string target_key(unsigned number) {
    return "__address__=10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256) +
           ":9100,job=node,";
}

}  // namespace

TEST_CASE("Sharding: vmagent's rule gives vmagent's owners") {
    CHECK(sharding(2).owners("baz") == Owners{0});
    CHECK(sharding(2).owners("foo") == Owners{1});
    CHECK(sharding(2, 2).owners("baz") == Owners{0, 1});
    CHECK(sharding(2, 2).owners("foo") == Owners{1, 0});
    CHECK(sharding(3, 2).owners("abc") == Owners{0, 1});
    CHECK(sharding(3, 2).owners("bar") == Owners{1, 2});
    CHECK(sharding(3, 2).owners("foo") == Owners{2, 0});
    CHECK(sharding(1).owners("foo") == Owners{0});
    CHECK(sharding(2, 0).owners("foo") == Owners{1});
    CHECK(sharding(2, 7).owners("foo") == Owners{1, 0});
}

TEST_CASE("Sharding: the key is made of all labels or of those that were named") {
    const auto key = [](const LabelList& labels, std::vector<std::string> names) {
        return Sharding({.members = 2, .shard_by_labels = std::move(names)}).key(labels);
    };
    CHECK(key(abcd, {}) == "a=aa,b=bb,c=cc,d=dd,");
    CHECK(key(abcd, {"c", "a"}) == "a=aa,c=cc,");
    CHECK(key({abcd[0], abcd[2], abcd[3]}, {"a", "b", "c"}) == "a=aa,c=cc,");
    CHECK(key(abcd, {"x", "y"}) == "a=aa,b=bb,c=cc,d=dd,");
    CHECK(key({}, {}).empty());
}

TEST_CASE("Sharding: the order of labels matters") {
    const LabelList reversed(abcd.rbegin(), abcd.rend());
    CHECK(sharding(2).key(reversed) == "d=dd,c=cc,b=bb,a=aa,");
}

TEST_CASE("Sharding: every target has as many different owners as asked for") {
    for (unsigned members = 1; members <= 5; ++members) {
        for (unsigned replicas = 1; replicas <= members; ++replicas) {
            const Sharding all = sharding(members, replicas);
            for (unsigned i = 0; i < 50; ++i) {
                Owners owners = all.owners(target_key(i));
                REQUIRE(owners.size() == replicas);
                std::sort(owners.begin(), owners.end());
                CHECK(std::unique(owners.begin(), owners.end()) == owners.end());
                CHECK(owners.back() < members);
            }
        }
    }
}

TEST_CASE("Sharding: owns() agrees with owners()") {
    unsigned owners = 0;
    for (unsigned member = 0; member < 4; ++member) {
        const Sharding mine({.members = 4, .member = member, .replication_factor = 3});
        const Owners all = mine.owners(mine.key(abcd));
        const bool named = std::find(all.begin(), all.end(), member) != all.end();
        CHECK(mine.owns(abcd) == named);
        owners += mine.owns(abcd) ? 1U : 0U;
    }
    CHECK(owners == 3);
}

TEST_CASE("Sharding: targets are spread evenly") {
    constexpr unsigned targets = 20'000;
    const Sharding all = sharding(10);
    std::map<unsigned, unsigned> counts;
    for (unsigned i = 0; i < targets; ++i) ++counts[all.owners(target_key(i)).front()];
    REQUIRE(counts.size() == 10);
    for (const auto& [member, count] : counts) {
        // Six standard deviations of a fair distribution.
        CHECK(count > targets / 10 - 255);
        CHECK(count < targets / 10 + 255);
    }
}

TEST_CASE("Sharding: bad options are refused") {
    const auto problem = [](ShardingOptions options) {
        return config_error([&] { Sharding{options}; });
    };
    CHECK(problem({.members = 0}) == "sharding.members: must be at least 1");
    CHECK(problem({.members = 3, .member = 3}) == "sharding.member: must be less than members (3)");
    for (const char* label : {"__meta_x", "__x", "\xff"}) {
        CHECK(problem({.member_label = label}) ==
              "sharding.member_label: must be the name of a label, not beginning with __");
    }
    CHECK(problem({.member_label = "a", .member_name = "\xff"}) ==
          "sharding.member_name: is not UTF-8");
}

TEST_CASE("parse_shard_member: a number, or a name that ends in one") {
    CHECK(parse_shard_member("0") == 0);
    CHECK(parse_shard_member("12") == 12);
    CHECK(parse_shard_member("vmagent-3") == 3);
    CHECK(parse_shard_member("a-b-07") == 7);
    for (const char* text : {"", "-", "agent", "agent-", "3x", "agent-3x", "4294967296", "a-+1"}) {
        INFO(text);
        CHECK_FALSE(config_error([&] { parse_shard_member(text); }).empty());
    }
}
