#include "k8s_sd/fleet/fleet_view.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd {
namespace {

constexpr std::uint64_t some_keys = 20'000;

std::uint64_t key_of(std::uint64_t i) {
    return share_key("job", "http://10.0.0." + std::to_string(i));
}

std::vector<std::string> agents(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("agent-" + std::to_string(i));
    return names;
}

/// The fraction of keys whose owner differs.
double moved(const FleetView& a, const FleetView& b) {
    double count = 0;
    for (std::uint64_t i = 0; i < some_keys; ++i) {
        count += a.owners(key_of(i)) != b.owners(key_of(i)) ? 1 : 0;
    }
    return count / static_cast<double>(some_keys);
}

TEST_CASE("FleetView: members are sorted, and one that is named twice counts once") {
    const FleetView view({"b", "a", "b"});
    CHECK(view.size() == 2);
    CHECK(view.members()[0] == "a");
    CHECK(view == FleetView({"a", "b"}));
    CHECK(view.epoch() == FleetView({"a", "b"}).epoch());
    CHECK(view.epoch() != FleetView({"ab"}).epoch());
    CHECK(view.epoch() != FleetView({"a", "c"}).epoch());
    CHECK(view.contains("b"));
    CHECK_FALSE(view.contains("c"));
}

// Members of two versions of a program share targets during a rolling update.
TEST_CASE("FleetView: keys, epochs and owners are the same in every process and version") {
    CHECK(share_key("job", "what") == 0xdb2664f4af424760U);
    const FleetView view(agents(5));
    CHECK(view.epoch() == 0xc4c5e6f1a527a71cU);
    std::string owners;
    for (std::uint64_t i = 0; i < 12; ++i) owners += view.owners(key_of(i)).front().back();
    CHECK(owners == "433242223414");
}

TEST_CASE("FleetView: the parts of a key count one by one") {
    CHECK(share_key("ab", "c") != share_key("a", "bc"));
    CHECK(share_key("", "abc") != share_key("abc", ""));
}

TEST_CASE("FleetView: keys are spread evenly") {
    for (const std::size_t members : {2U, 3U, 10U, 50U}) {
        const FleetView view(agents(members));
        std::map<std::string_view, std::size_t> shares;
        for (std::uint64_t i = 0; i < some_keys; ++i) ++shares[view.owners(key_of(i)).front()];
        const double mean = static_cast<double>(some_keys) / static_cast<double>(members);
        for (const auto& [member, share] : shares) {
            // Five standard deviations of a random distribution.
            CHECK(std::abs(static_cast<double>(share) - mean) < 5 * std::sqrt(mean));
        }
        CHECK(shares.size() == members);
    }
}

TEST_CASE("FleetView: a member that joins takes its share, and nothing else moves") {
    for (const std::size_t members : {1U, 4U, 9U}) {
        const FleetView before(agents(members));
        const FleetView after(agents(members + 1));
        CHECK(moved(before, after) < 1.1 / static_cast<double>(members + 1));
        const std::string newcomer = "agent-" + std::to_string(members);
        for (std::uint64_t i = 0; i < 2000; ++i) {
            const auto now = after.owners(key_of(i));
            CHECK((now == before.owners(key_of(i)) || now.front() == newcomer));
        }
    }
}

TEST_CASE("FleetView: owns() says the same as owners(), which are different members") {
    const FleetView view(agents(7));
    for (const unsigned replicas : {0U, 1U, 2U, 3U, 7U, 9U}) {
        for (std::uint64_t i = 0; i < 500; ++i) {
            const auto owners = view.owners(key_of(i), replicas);
            CHECK(owners.size() == std::min<std::size_t>(std::max(replicas, 1U), 7));
            for (const std::string& member : view.members()) {
                const bool is_owner = std::count(owners.begin(), owners.end(), member) == 1;
                CHECK(view.owns(member, key_of(i), replicas) == is_owner);
            }
        }
    }
    CHECK_FALSE(view.owns("agent-9", key_of(1)));
    CHECK(FleetView({}).owners(1).empty());
}

TEST_CASE("FleetView: with more replicas the owners of fewer stay") {
    const FleetView view(agents(6));
    for (std::uint64_t i = 0; i < 500; ++i) {
        const auto three = view.owners(key_of(i), 3);
        const auto two = view.owners(key_of(i), 2);
        CHECK(std::equal(two.begin(), two.end(), three.begin()));
    }
}

TEST_CASE("FleetShare: who has no fleet owns everything, who has no view owns nothing") {
    CHECK(FleetShare().owns(1));
    CHECK_FALSE(FleetShare().is_shared());
    CHECK_FALSE(FleetShare(nullptr, "a").owns(1));
    const auto view = std::make_shared<const FleetView>(agents(3));
    CHECK_FALSE(FleetShare(view, "stranger").owns(1));
    unsigned owners = 0;
    for (const std::string& member : view->members()) owners += FleetShare(view, member).owns(1);
    CHECK(owners == 1);
    for (const std::string& member : view->members()) CHECK(FleetShare(view, member, 3).owns(1));
}

TEST_CASE("FleetShare: two are equal if they own the same") {
    const auto view = std::make_shared<const FleetView>(agents(3));
    const auto same = std::make_shared<const FleetView>(agents(3));
    CHECK(FleetShare() == FleetShare());
    CHECK(FleetShare(view, "a") == FleetShare(same, "a"));
    CHECK_FALSE(FleetShare(view, "a") == FleetShare(nullptr, "a"));
    CHECK_FALSE(FleetShare(nullptr, "a") == FleetShare());
    CHECK_FALSE(FleetShare(view, "a", 2) == FleetShare(view, "a"));
}

}  // namespace
}  // namespace k8s_sd
