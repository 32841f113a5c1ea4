#include "jobs/consumers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

using k8s_sd_program::Consumers;
using k8s_sd_program::ListPoll;
using k8s_sd_program::ListSelection;
using std::chrono::seconds;

namespace {

const Consumers::TimePoint noon{std::chrono::hours(12)};

ListPoll poll_by(const std::string& address, const std::string& tag = "1", unsigned status = 200) {
    return {.address = address,
            .agent = "A/1",
            .job = "pods",
            .content = {k8s_sd_program::ListForm::relabelled},
            .selection = ListSelection(),
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
    other.selection->division.shards = 2;
    other.selection->shard = 1;
    consumers.saw(other, noon + seconds(3));
    const auto all = consumers.all(noon + seconds(3));
    REQUIRE(all.size() == 3);
    CHECK(all[0].key.selection == "shard=1&shards=2");
    CHECK(all[1].key.address == "a");
    CHECK(all[1].polls == 2);
    CHECK(all[1].errors == 1);
    CHECK(all[1].last.status == 503);
    CHECK(all[1].last.tag == "1");
    CHECK(all[1].bytes == 200);
    CHECK(all[2].key.address == "b");
    CHECK(consumers.seen_since(noon + seconds(2)) == 2);
}

TEST_CASE("Consumers: equal selections are one, and have one text") {
    Consumers consumers;
    const auto text_of = [&](const std::optional<ListSelection>& selection) {
        ListPoll poll = poll_by("a");
        poll.selection = selection;
        consumers.saw(poll, noon);
        return consumers.all(noon).front().key.selection;
    };
    ListSelection selection;
    CHECK(text_of(selection).empty());
    selection.node = "n 1";
    selection.division.by_node = true;
    CHECK(text_of(selection) == "node=n+1");
    selection.division.shards = 4;
    selection.division.replicas = 2;
    CHECK(text_of(selection) == "node=n+1&rest=rendezvous&shard=0&shards=4&replicas=2");
    ListSelection of_collector;
    of_collector.collector = "c-0";
    CHECK(text_of(of_collector) == "collector_id=c-0");
    CHECK(text_of(std::nullopt) == "(not understood)");
    ListPoll chosen = poll_by("a");
    chosen.content.meta = k8s_sd_program::MetaNames("__meta_b*,__meta_a");
    consumers.saw(chosen, noon);
    CHECK(consumers.all(noon).front().key.selection == "keep_meta=__meta_a%2C__meta_b%2A");
    CHECK(consumers.all(noon).size() == 6);
}

TEST_CASE("Consumers: shards are distinguished, however many labels their reader chooses") {
    std::string many = "__meta_0";
    for (int i = 1; i < 60; ++i) many += ",__meta_" + std::to_string(i);
    for (const std::string& names : {std::string("otel"), many}) {
        Consumers consumers;
        for (const unsigned shard : {0U, 1U}) {
            ListPoll poll = poll_by("a");
            poll.content.meta = k8s_sd_program::MetaNames(names);
            poll.selection->division.shards = 2;
            poll.selection->shard = shard;
            consumers.saw(poll, noon);
        }
        const auto all = consumers.all(noon);
        REQUIRE(all.size() == 2);
        CHECK(all[0].key.selection.starts_with("shard=1&shards=2&keep_meta="));
        CHECK(all[0].key.selection.size() <= Consumers::max_text_bytes);
    }
}

TEST_CASE("Consumers: who does not ask again in time is late, then forgotten") {
    Consumers consumers;
    consumers.saw(poll_by("a"), noon);
    CHECK_FALSE(consumers.all(noon + seconds(149))[0].late);
    CHECK(consumers.all(noon + seconds(151))[0].late);
    CHECK(consumers.all(noon + seconds(3600)).size() == 1);
    ListPoll slow = poll_by("slow");
    slow.interval = 3600;
    consumers.saw(slow, noon);
    const auto left = consumers.all(noon + seconds(3601));
    REQUIRE(left.size() == 1);
    CHECK(left[0].key.address == "slow");
    CHECK_FALSE(left[0].late);
    CHECK(consumers.all(noon + seconds(36'001)).empty());
    consumers.saw(poll_by("a"), noon + seconds(36'002));
    CHECK(consumers.all(noon + seconds(36'002))[0].polls == 1);
}

TEST_CASE("Consumers: there are so many at most, and those not seen for longest go") {
    Consumers consumers(3);
    for (int i = 0; i < 1000; ++i) {
        consumers.saw(poll_by("regular"), noon + seconds(i));
        consumers.saw(poll_by(std::to_string(i)), noon + seconds(i));
    }
    const auto all = consumers.all(noon);
    REQUIRE(all.size() == 3);
    CHECK(all[0].key.address == "999");
    CHECK(all[1].key.address == "regular");
    CHECK(all[1].polls == 1000);
    CHECK(consumers.dropped() == 998);
}

TEST_CASE("Consumers: long texts are cut") {
    Consumers consumers;
    ListPoll poll = poll_by("a");
    poll.agent = std::string(100'000, 'x');
    poll.selection->division.by_node = true;
    poll.selection->node = std::string(100'000, 'x');
    consumers.saw(poll, noon);
    consumers.saw(poll, noon);
    const auto all = consumers.all(noon);
    CHECK(all[0].key.agent.size() == Consumers::max_text_bytes);
    CHECK(all[0].key.selection.size() == Consumers::max_text_bytes);
    CHECK(all[0].polls == 2);
}
