#include "lists/list_diff.hpp"
#include "lists/listing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using k8s_sd_program::diff_of;
using k8s_sd_program::ListDiff;

namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

/// Labels and target of each target of a list.
Pairs pairs_of(const std::string& list) {
    Pairs pairs;
    const boost::json::value groups = boost::json::parse(list);
    for (const auto& group : groups.as_array()) {
        for (const auto& target : group.at("targets").as_array()) {
            pairs.emplace(boost::json::serialize(group.at("labels")),
                          boost::json::serialize(target));
        }
    }
    return pairs;
}

/// The list of these targets, as a job writes it.
std::string json_list_of(const std::vector<std::pair<std::string, std::string>>& targets) {
    k8s_sd_program::ListMetrics metrics;
    k8s_sd_program::Listing listing({}, metrics);
    std::vector<k8s_sd_program::ListedTarget> all;
    for (const auto& [labels, target] : targets) all.push_back({labels + target, labels.size()});
    listing.replace("all", std::move(all));
    return *listing.body({}, {})->bytes();
}

}  // namespace

TEST_CASE("diff_of: says what to take out and what to put in, as lists") {
    const std::string before = json_list_of({{R"({"a":"1"})", R"("x:1")"},
                                             {R"({"a":"1"})", R"("x:2")"},
                                             {R"({"a":"2"})", R"("y:1")"},
                                             {R"({"a":"3"})", R"("z:1")"}});
    const std::string now = json_list_of({{R"({"a":"1"})", R"("x:2")"},
                                          {R"({"a":"1"})", R"("x:3")"},
                                          {R"({"a":"1","b":""})", R"("y:1")"},
                                          {R"({"a":"3"})", R"("z:1")"}});
    const ListDiff diff = diff_of(before, now);
    CHECK(diff.removed == R"([{"targets":["x:1"],"labels":{"a":"1"}},)"
                          R"({"targets":["y:1"],"labels":{"a":"2"}}])");
    CHECK(diff.added == R"([{"targets":["y:1"],"labels":{"a":"1","b":""}},)"
                        R"({"targets":["x:3"],"labels":{"a":"1"}}])");
}

TEST_CASE("diff_of: from nothing, to nothing, and between equal lists") {
    const std::string empty = json_list_of({});
    const std::string one = json_list_of({{R"({"a":"1"})", R"("x:1")"}});
    const std::string group = R"([{"targets":["x:1"],"labels":{"a":"1"}}])";
    CHECK(diff_of(empty, one).added == group);
    CHECK(diff_of(empty, one).removed == "[]");
    CHECK(diff_of(one, empty).removed == group);
    CHECK(diff_of(one, one).added == "[]");
    CHECK(diff_of(empty, empty).removed == "[]");
}

TEST_CASE("diff_of: texts that look like the list itself are only texts") {
    const std::string labels = R"({"],\"labels\":{":"\"],\\","b":"}"})";
    const std::string before =
        json_list_of({{labels, R"("\"],\"labels\":{}")"}, {labels, R"("a\\")"}});
    const std::string now = json_list_of({{labels, R"("a\\")"}});
    const ListDiff diff = diff_of(before, now);
    CHECK(diff.removed == R"([{"targets":["\"],\"labels\":{}"],"labels":)" + labels + "}]");
    CHECK(diff.added == "[]");
}

TEST_CASE("diff_of: leads from any list to any other one, with nothing that is in both") {
    std::mt19937 random(15);
    const auto below = [&](unsigned most) {
        return std::uniform_int_distribution<unsigned>(0, most - 1)(random);
    };
    const auto any_list = [&] {
        std::vector<std::pair<std::string, std::string>> targets;
        for (unsigned i = below(12); i > 0; --i) {
            std::string labels = R"({"a":")" + std::to_string(below(4)) + '"';
            if (below(2) != 0) labels += R"(,"b":"\"")";
            targets.emplace_back(labels + "}", R"("t\\)" + std::to_string(below(12)) + '"');
        }
        return json_list_of(targets);
    };
    for (int i = 0; i < 2'000; ++i) {
        const std::string before = any_list();
        const std::string now = any_list();
        const ListDiff diff = diff_of(before, now);
        Pairs pairs = pairs_of(before);
        for (const auto& pair : pairs_of(diff.removed)) REQUIRE(pairs.erase(pair) == 1);
        for (const auto& pair : pairs_of(diff.added)) REQUIRE(pairs.insert(pair).second);
        REQUIRE(pairs == pairs_of(now));
        for (const auto& pair : pairs_of(diff.removed)) {
            REQUIRE_FALSE(pairs_of(diff.added).contains(pair));
        }
    }
}
