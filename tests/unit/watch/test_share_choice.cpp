#include "k8s_sd/detail/watch/form_choices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using k8s_sd::detail::ShareChoice;
using k8s_sd::detail::shows_shard;

TEST_CASE("ShareChoice: many objects of a share show that the server sends the share only") {
    CHECK_FALSE(shows_shard(0.5, 0));
    CHECK_FALSE(shows_shard(0.5, 19));
    CHECK(shows_shard(0.5, 20));
    CHECK(shows_shard(0.01, 4));
    CHECK_FALSE(shows_shard(0.99, 1000));
    CHECK_FALSE(shows_shard(1, 1'000'000));
}

TEST_CASE("ShareChoice: who refuses the parameter is asked without it at once") {
    const unsigned status = GENERATE(400U, 403U, 414U, 422U, 500U, 501U);
    ShareChoice choice;
    REQUIRE(choice.sends());
    CHECK(choice.on_failure(true, status));
    CHECK_FALSE(choice.sends());
    CHECK(choice.on_success(false));
    CHECK(choice.sends());  // unless the server is known by now
}

TEST_CASE("ShareChoice: failures that have other reasons do not count") {
    const unsigned status = GENERATE(0U, 200U, 401U, 404U, 406U, 410U, 415U, 429U, 503U, 504U);
    ShareChoice choice;
    CHECK_FALSE(choice.on_failure(true, status));
    CHECK(choice.sends());
}

TEST_CASE("ShareChoice: where both fail they take turns, without asking again at once") {
    ShareChoice choice;
    CHECK(choice.on_failure(true, 500));
    CHECK_FALSE(choice.on_failure(false, 500));
    CHECK(choice.sends());
    CHECK_FALSE(choice.on_failure(true, 500));
    CHECK_FALSE(choice.sends());
    CHECK_FALSE(choice.on_failure(false, 500));
    CHECK(choice.sends());
    CHECK_FALSE(choice.on_success(true));
    CHECK(choice.sends());
}

TEST_CASE("ShareChoice: a server that has taken the parameter may fail once for other reasons") {
    ShareChoice choice;
    CHECK_FALSE(choice.on_success(true));
    CHECK_FALSE(choice.on_failure(true, 500));
    CHECK(choice.sends());
    CHECK_FALSE(choice.on_failure(true, 500));
    CHECK_FALSE(choice.sends());
    CHECK(choice.on_success(false));
    CHECK(choice.on_failure(true, 500));  // an hour later
}

TEST_CASE("ShareChoice: another server has not taken anything") {
    ShareChoice choice;
    choice.on_success(true);
    choice.forget();
    CHECK(choice.on_failure(true, 500));
}

TEST_CASE("ShareChoice: an answer to what was meant to be for everything says nothing") {
    ShareChoice choice;
    CHECK_FALSE(choice.on_success(false));
    CHECK(choice.on_failure(true, 500));
}
