// A group stores the addresses of its targets beside their blocks. It must read like the plain
// form: a map of labels for each target.

#include "k8s_sd/detail/labels/group_builder.hpp"
#include "support/allocations.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// The labels of each target of a group.
using PlainTargets = std::vector<LabelMap>;

/// Targets of few different labels, so that some of them are equal.
class RandomTargets {
 public:
    PlainTargets draw() {
        PlainTargets targets(1 + random_() % 4);
        for (LabelMap& labels : targets) {
            if (random_() % 4 != 0) labels.emplace("__address__", text());
            if (random_() % 2 != 0) labels.emplace("port", text());
            if (random_() % 4 == 0) labels.emplace("zone", "");
        }
        return targets;
    }
    std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
    std::string text() {
        // Several of the last one take more than 16 bits for the ends of targets.
        static const std::string texts[] = {"a", "b:1", std::string(300, 'c'),
                                            std::string(30'000, 'd')};
        return texts[random_() % 4];
    }
    std::mt19937 random_{3};
};

TargetGroupPtr make_in_parts(const PlainTargets& targets, RandomTargets& random,
                             std::uint64_t share_key = 0, std::string_view prefix = "endpoints/") {
    detail::GroupBuilder builder;
    builder.begin(prefix, "ns", "e", targets.size(), nullptr, share_key);
    for (std::size_t i = 0; i < targets.size();) {
        builder.begin_part(1);
        const std::size_t end = i + 1 + random.below(targets.size() - i);
        for (; i < end; ++i) add_target(builder, targets[i]);
        builder.end_part();
    }
    return builder.finish();
}
TargetGroupPtr make_kept(const TargetGroupPtr& earlier) {
    detail::GroupBuilder builder;
    builder.begin("pod/", "ns", "p", earlier->size(), earlier);
    builder.keep_targets();
    return builder.finish();
}

void check_reads_like(const TargetGroup& group, const PlainTargets& plain) {
    REQUIRE(group.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const Labels labels = group[i];
        CHECK(labels.to_map() == plain[i]);
        CHECK_FALSE(group.merged(i).contains("zone"));
        CHECK(labels.size() == plain[i].size());
        CHECK(labels.empty() == plain[i].empty());
        CHECK(static_cast<std::size_t>(std::distance(labels.begin(), labels.end())) ==
              plain[i].size());
        for (const char* name : {"__address__", "port", "zone", "none"}) {
            const auto known = plain[i].find(name);
            const auto value = labels.get(name);
            REQUIRE(value.has_value() == (known != plain[i].end()));
            if (value) CHECK(*value == known->second);
        }
    }
}

}  // namespace

TEST_CASE("TargetGroup: targets read like maps, whole, in parts, and kept from an earlier group") {
    RandomTargets random;
    for (int round = 0; round < 300; ++round) {
        const PlainTargets targets = random.draw();
        const TargetGroupPtr whole = make_group("p", targets);
        check_reads_like(*whole, targets);
        check_reads_like(*make_in_parts(targets, random), targets);
        check_reads_like(*make_kept(whole), targets);
    }
}

TEST_CASE("TargetGroup: a key for shares changes nothing else, in groups with parts or without") {
    RandomTargets random;
    const LabelMap labels{{"of", "the group"}};
    for (std::uint64_t round = 0; round < 300; ++round) {
        const PlainTargets targets = random.draw();
        const std::uint64_t key = round % 3 == 0 ? 0 : round << 32U;
        const TargetGroupPtr whole = make_group("p", targets, labels, key);
        CHECK(whole->source() == "pod/ns/p");
        CHECK(whole->labels().to_map() == labels);
        CHECK(whole->share_key() == key);
        check_reads_like(*whole, targets);
        CHECK((*whole == *make_group("p", targets, labels)) == (key == 0));
        const TargetGroupPtr in_parts = make_in_parts(targets, random, key);
        CHECK(in_parts->source() == "endpoints/ns/e");
        CHECK(in_parts->share_key() == key);
        check_reads_like(*in_parts, targets);
    }
}

TEST_CASE("TargetGroup: a group in parts reads the same with ends of 32 bits") {
    RandomTargets random;
    const std::string prefix(70'000, 's');
    for (std::uint64_t round = 0; round < 100; ++round) {
        const PlainTargets targets = random.draw();
        const std::uint64_t key = round % 2 << 32U;
        const TargetGroupPtr group = make_in_parts(targets, random, key, prefix);
        CHECK(group->source() == prefix + "ns/e");
        CHECK(group->share_key() == key);
        check_reads_like(*group, targets);
        CHECK(*group == *make_in_parts(targets, random, key, prefix));
    }
}

TEST_CASE("GroupBuilder: the addresses of an object are bounded together") {
    const std::string address(1 << 20, 'a');
    for (const bool in_parts : {false, true}) {
        CAPTURE(in_parts);
        detail::GroupBuilder builder;
        const auto make = [&](int targets) {
            builder.begin("p", "ns", "name");
            if (in_parts) builder.begin_part(1);
            for (int i = 0; i < targets; ++i) builder.begin_target(address);
            if (in_parts) builder.end_part();
            return builder.finish();
        };
        CHECK(make(64)->size() == 64);
        CHECK_FALSE(make(65));
        CHECK(builder.overfull());
        CHECK(make(1)->size() == 1);
    }
}

TEST_CASE("TargetGroup: groups and targets are equal exactly if their maps are") {
    RandomTargets random;
    for (int round = 0; round < 2000; ++round) {
        const PlainTargets one = random.draw(), other = random.draw();
        const TargetGroupPtr a = make_group("p", one), b = make_in_parts(other, random);
        CHECK((*a == *b) == (one == other));
        for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
            CHECK(((*a)[i] == (*b)[i]) == (one[i] == other[i]));
            if (one[i] == other[i]) CHECK((*a)[i].hash() == (*b)[i].hash());
        }
    }
}

TEST_CASE("TargetGroup: the ends of targets take 16 bits each as long as they suffice") {
    const auto bytes_of = [](std::size_t address_bytes) {
        detail::GroupBuilder builder;
        builder.begin("pod/", "ns", "p");
        builder.begin_target(std::string(address_bytes, 'a'));
        builder.begin_target().begin_target();
        memory_use = {.on = true};
        const TargetGroupPtr group = builder.finish();
        memory_use.on = false;
        CHECK(group->size() == 3);
        CHECK(group->source() == "pod/ns/p");
        CHECK((*group)[0].get("__address__")->size() == address_bytes);
        CHECK((*group)[1].empty());
        return static_cast<std::size_t>(memory_use.requested) - address_bytes;
    };
    const std::size_t source = std::string_view("pod/ns/p").size();
    const std::size_t small = bytes_of(65'535 - source), large = bytes_of(65'536 - source);
    // ThreadSanitizer counts nothing.
    if (small + 65'535 - source != 0) CHECK(large == small + 16);
}
