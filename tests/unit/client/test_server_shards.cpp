#include "k8s_sd/detail/client/server_memory.hpp"

#include <catch2/catch_test_macros.hpp>

using k8s_sd::TimePoint;
using k8s_sd::detail::ServerShards;
using namespace std::chrono_literals;

TEST_CASE("ServerShards: at first a server is worth a try") {
    const ServerShards shards;
    CHECK(shards.worth_trying(TimePoint()));
    CHECK_FALSE(shards.of_no_use(TimePoint()));
}

TEST_CASE("ServerShards: a refusal is news once, and counts for an hour") {
    ServerShards shards;
    const TimePoint then = TimePoint() + 1h;
    CHECK(shards.on_refused(then));
    CHECK_FALSE(shards.on_refused(then));
    CHECK_FALSE(shards.worth_trying(then + 59min));
    CHECK(shards.of_no_use(then + 59min));
    CHECK(shards.worth_trying(then + 60min));
    CHECK_FALSE(shards.of_no_use(then + 60min));
    CHECK(shards.on_refused(then + 60min));
}

TEST_CASE("ServerShards: who ignores the parameter may be sent it, for nothing") {
    ServerShards shards;
    shards.on_ignored(TimePoint());
    CHECK(shards.worth_trying(TimePoint()));
    CHECK(shards.of_no_use(TimePoint() + 59min));
    CHECK_FALSE(shards.of_no_use(TimePoint() + 60min));
}
