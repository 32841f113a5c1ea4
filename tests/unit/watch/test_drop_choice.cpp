#include "k8s_sd/detail/watch/form_choices.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

TEST_CASE("DropChoice: a refusal is followed by one request without the parameter") {
    DropChoice choice;
    CHECK(choice.sends());
    CHECK(choice.on_failure(true, 406));
    CHECK_FALSE(choice.sends());
    SECTION("its success shows the cause") {
        CHECK(choice.on_success(false));
        CHECK(choice.sends());  // what the server refuses is remembered elsewhere
    }
    SECTION("its failure shows another cause, until a request succeeds") {
        CHECK_FALSE(choice.on_failure(false, 406));
        CHECK(choice.sends());
        CHECK_FALSE(choice.on_failure(true, 406));
        CHECK_FALSE(choice.on_success(true));
        CHECK(choice.on_failure(true, 415));
    }
    SECTION("another failure of it shows nothing") {
        for (const unsigned status : {0U, 401U, 429U, 500U, 503U}) {
            CHECK_FALSE(choice.shows_refusal(false, status));
            CHECK_FALSE(choice.on_failure(false, status));
            CHECK_FALSE(choice.sends());
        }
    }
    SECTION("another objection to it shows the cause") {
        for (const unsigned status : {403U, 404U, 405U, 410U, 422U}) {
            CHECK(choice.shows_refusal(false, status));
            CHECK_FALSE(choice.shows_refusal(true, status));
        }
        CHECK_FALSE(choice.shows_refusal(false, 406));
    }
    SECTION("of another server") {
        choice.forget();
        CHECK(choice.sends());
    }
}

TEST_CASE("DropChoice: only 400, 406 and 415 may be about the parameter") {
    for (const unsigned status : {0U, 401U, 403U, 404U, 410U, 422U, 429U, 500U, 503U}) {
        DropChoice choice;
        CHECK_FALSE(choice.on_failure(true, status));
        CHECK(choice.sends());
    }
    DropChoice choice;
    CHECK_FALSE(choice.shows_refusal(false, 422));
    CHECK_FALSE(choice.on_success(true));
    CHECK_FALSE(choice.on_success(false));
}

}  // namespace k8s_sd::detail
