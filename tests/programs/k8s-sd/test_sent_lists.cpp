#include "lists/sent_lists.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using k8s_sd_program::SentLists;

TEST_CASE("SentLists: a connection has the list that was last sent on it") {
    SentLists lists(10);
    CHECK(lists.last(1, "/sd/a").empty());
    lists.sent(1, "/sd/a", "\"x\"");
    CHECK(lists.last(1, "/sd/a") == "\"x\"");
    CHECK(lists.last(2, "/sd/a").empty());
    lists.sent(1, "/sd/a", "\"y\"");
    CHECK(lists.last(1, "/sd/a") == "\"y\"");
}

TEST_CASE("SentLists: of a connection that asks for several lists only the last one counts") {
    SentLists lists(10);
    lists.sent(1, "/sd/a", "\"x\"");
    lists.sent(1, "/sd/b", "\"y\"");
    CHECK(lists.last(1, "/sd/a").empty());
    CHECK(lists.last(1, "/sd/b") == "\"y\"");
}

TEST_CASE("SentLists: the oldest connections are forgotten") {
    SentLists lists(2);
    for (const unsigned connection : {1U, 2U, 3U}) lists.sent(connection, "/sd/a", "\"x\"");
    CHECK(lists.last(1, "/sd/a").empty());
    CHECK(lists.last(2, "/sd/a") == "\"x\"");
    CHECK(lists.last(3, "/sd/a") == "\"x\"");
}
