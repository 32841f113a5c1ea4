#include "jobs/consumers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

using bridge::Consumers;
using bridge::ListPoll;
using std::chrono::seconds;

namespace {

const Consumers::TimePoint noon{std::chrono::hours(12)};

ListPoll poll_by(const std::string& address, const std::string& tag = "1", unsigned status = 200) {
    return {.who = {.address = address, .agent = "A/1", .job = "pods", .list = "relabelled"},
            .interval = 60,
            .status = status,
            .bytes = 100,
            .tag = tag};
}

}  // namespace

TEST_CASE("Consumers: sums up the polls of each reader of each list, last seen first") {
    Consumers consumers;
    consumers.saw(poll_by("a"), noon);
    consumers.saw(poll_by("b"), noon + seconds(1));
    consumers.saw(poll_by("a", "", 503), noon + seconds(2));
    ListPoll other = poll_by("a");
    other.who.selection = "shard=1&shards=2";
    consumers.saw(other, noon + seconds(3));
    const auto all = consumers.all(noon + seconds(3), 10);
    REQUIRE(all.size() == 3);
    CHECK(all[0].key.selection == "shard=1&shards=2");
    CHECK(all[1].key.address == "a");
    CHECK(all[1].polls == 2);
    CHECK(all[1].errors == 1);
    CHECK(all[1].status == 503);
    CHECK(all[1].bytes == 200);
    CHECK(all[2].key.address == "b");
    CHECK(consumers.all(noon, 1).size() == 1);
    CHECK(consumers.seen_since(noon + seconds(2)) == 2);
}

TEST_CASE("Consumers: who has an older version than another reader is not current") {
    Consumers consumers;
    consumers.saw(poll_by("a", "1"), noon);
    consumers.saw(poll_by("b", "2"), noon);
    auto all = consumers.all(noon, 10);
    CHECK(all[0].current);
    CHECK_FALSE(all[1].current);
    consumers.saw(poll_by("a", "2", 304), noon);
    CHECK(consumers.all(noon, 10)[0].current);
    consumers.saw(poll_by("c", "", 503), noon);
    CHECK_FALSE(consumers.all(noon, 10)[0].current);
}

TEST_CASE("Consumers: who does not ask again in time is late") {
    Consumers consumers;
    consumers.saw(poll_by("a"), noon);
    CHECK_FALSE(consumers.all(noon + seconds(149), 10)[0].late);
    CHECK(consumers.all(noon + seconds(151), 10)[0].late);
}

TEST_CASE("Consumers: there are so many at most, and those not seen for longest go") {
    Consumers consumers(3);
    for (int i = 0; i < 1000; ++i) {
        consumers.saw(poll_by("regular"), noon + seconds(i));
        consumers.saw(poll_by(std::to_string(i)), noon + seconds(i));
    }
    const auto all = consumers.all(noon, 10);
    REQUIRE(all.size() == 3);
    CHECK(all[0].key.address == "999");
    CHECK(all[1].key.address == "regular");
    CHECK(all[1].polls == 1000);
    CHECK(consumers.dropped() == 998);
}

TEST_CASE("Consumers: long texts are cut") {
    Consumers consumers;
    ListPoll poll = poll_by("a");
    poll.who.agent = std::string(100'000, 'x');
    consumers.saw(poll, noon);
    consumers.saw(poll, noon);
    CHECK(consumers.all(noon, 10)[0].key.agent.size() == Consumers::most_bytes);
    CHECK(consumers.all(noon, 10)[0].polls == 2);
}
