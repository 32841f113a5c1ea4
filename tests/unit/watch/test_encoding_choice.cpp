#include "k8s_sd/detail/watch/form_choices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

using namespace k8s_sd;
using namespace k8s_sd::detail;
using namespace std::chrono_literals;

TEST_CASE("EncodingChoice: managedFields are dropped in each media range") {
    CHECK(accepted::without_managed_fields(accepted::json) ==
          "application/json;drop=metadata.managedFields");
    CHECK(accepted::without_managed_fields(accepted::protobuf) ==
          "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,"
          "application/json;drop=metadata.managedFields;q=0.9");
    CHECK(accepted::without_managed_fields(accepted::json_metadata_watch) ==
          "application/json;drop=metadata.managedFields;as=PartialObjectMetadata;g=meta.k8s.io;"
          "v=v1,application/json;drop=metadata.managedFields");
}

TEST_CASE("EncodingChoice: what failed is asked for again with a list, each time later") {
    EncodingChoice choice(true, false);
    TimePoint now{};
    for (const Duration pause : {1h, 2h, 4h, 8h, 16h, 24h, 24h}) {
        CHECK(choice.accept(false, true) == accepted::protobuf);
        CHECK(choice.fall_back(now));
        CHECK(choice.accept(false, true) == accepted::json);
        CHECK(choice.accept(true, true) == accepted::json);
        choice.on_list();
        choice.begin_list(now + pause - 1s);
        CHECK(choice.accept(false, true) == accepted::json);
        now += pause;
        CHECK(choice.accept(true, true) == accepted::json);  // a watch does not try
        choice.begin_list(now);
    }
}

TEST_CASE("EncodingChoice: a list that was read, and another server, make the next pause short") {
    EncodingChoice choice(true, false);
    const TimePoint now{};
    const auto is_short = [&](TimePoint from) {
        CHECK(choice.fall_back(from));
        choice.begin_list(from + 1h);
        return choice.accept(false, true) == accepted::protobuf;
    };
    CHECK(is_short(now));
    CHECK_FALSE(is_short(now + 1h));
    choice.begin_list(now + 4h);
    choice.on_list();
    CHECK(is_short(now + 4h));
    CHECK(choice.fall_back(now + 5h));
    choice.forget();
    CHECK(choice.accept(false, true) == accepted::protobuf);
    CHECK(is_short(now + 5h));
}

TEST_CASE("EncodingChoice: from plain JSON there is nothing to fall back to") {
    EncodingChoice choice(false, false);
    CHECK(choice.accept(false, true) == accepted::json);
    CHECK_FALSE(choice.fall_back({}));
    EncodingChoice metadata(false, true);
    CHECK(metadata.accept(false, true) == accepted::json_metadata_list);
    CHECK(metadata.accept(true, true) == accepted::json_metadata_watch);
    CHECK(metadata.fall_back({}));
    CHECK(metadata.accept(false, true) == accepted::json);
    CHECK_FALSE(metadata.fall_back({}));
}

TEST_CASE("EncodingChoice: older versions of an API come in JSON") {
    CHECK(EncodingChoice(true, false).accept(false, false) == accepted::json);
    CHECK(EncodingChoice(true, false).accept(true, false) == accepted::json);
    CHECK(EncodingChoice(true, true).accept(true, false) == accepted::json_metadata_watch);
}
