#include "k8s_sd/detail/codec/event.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>

using namespace k8s_sd::detail;

TEST_CASE("read_json_status: a Status gives its code, reason, message and time to come back") {
    const auto status = read_json_status(
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":429,)"
        R"("reason":"TooManyRequests","message":"slow \u0064own","details":{"retryAfterSeconds":7}})");
    REQUIRE(status);
    CHECK(status->code == 429);
    CHECK(status->reason == "TooManyRequests");
    CHECK(status->message == "slow down");
    CHECK(status->retry_after_seconds == 7);
    CHECK(status->causes.empty());
}

TEST_CASE("read_json_status: a Status has its causes, in their order") {
    const auto status = read_json_status(
        R"({"details":{"causes":[{"reason":"Other"},{"message":"m","reason":"r"},{"message":"n"}]}})");
    REQUIRE(status);
    REQUIRE(status->causes.size() == 3);
    CHECK(status->causes[0].reason == "Other");
    CHECK(status->causes[1].reason == "r");
    CHECK(status->causes[1].message == "m");
    CHECK(status->causes[2].reason.empty());
    CHECK(status->causes[2].message == "n");
}

TEST_CASE("read_json_status: what is no JSON object is no Status") {
    for (const char* body : {"", " ", "x", "<html>", "null", "[]", "[{}]", "1", "\"message\"", "{",
                             "{\"message\":", "{} x", "{}{}", "{\"message\":\"a\" \"b\"}"}) {
        CAPTURE(body);
        CHECK_FALSE(read_json_status(body));
    }
    CHECK_FALSE(read_json_status("{\"a\":" + std::string(100'000, '[')));
}

TEST_CASE("read_json_status: a byte order mark before it is skipped, one only") {
    const auto status = read_json_status("\xEF\xBB\xBF{\"message\":\"no\"}");
    REQUIRE(status);
    CHECK(status->message == "no");
    CHECK_FALSE(read_json_status("\xEF\xBB\xBF\xEF\xBB\xBF{\"message\":\"no\"}"));
}

TEST_CASE("read_json_status: what is not Unicode in a text becomes replacement characters") {
    const auto status = read_json_status("{\"message\":\"a\xFF\\uD800z\"}");
    REQUIRE(status);
    CHECK(status->message == "a\uFFFD\uFFFDz");
}

TEST_CASE("read_json_status: a code in quotes counts; without a code there is none") {
    struct Row {
        const char* body;
        unsigned code;
    };
    for (const Row& row :
         std::initializer_list<Row>{{R"({"code":410,"reason":"InternalError"})", 410},
                                    {R"({"code":"410"})", 410},
                                    {R"({"code":"410","reason":"InternalError"})", 410},
                                    {R"({"code":"\u003410"})", 410},
                                    {R"({"reason":"Expired"})", 0},
                                    {R"({"code":0,"reason":"Expired"})", 0},
                                    {R"({"code":null,"reason":"Expired"})", 0},
                                    {R"({"code":"","reason":"Expired"})", 0},
                                    {R"({"code":"gone","reason":"Expired"})", 0},
                                    {R"({"code":"410 ","reason":"Forbidden"})", 0},
                                    {R"({"code":"-410","reason":"Forbidden"})", 0},
                                    {R"({"code":"99999999999999999999","reason":"Forbidden"})", 0},
                                    {R"({"code":99999999999,"reason":"Forbidden"})", 0},
                                    {R"({"code":{},"reason":"Forbidden"})", 0},
                                    {R"({"code":[410],"reason":"Forbidden"})", 0},
                                    {R"({"reason":410})", 0}}) {
        CAPTURE(row.body);
        const auto status = read_json_status(row.body);
        REQUIRE(status);
        CHECK(status->code == row.code);
    }
}

TEST_CASE("read_json_status: values of the wrong type are passed over") {
    for (const char* body :
         {"{}", " {} \n", R"({"message":7,"reason":[],"code":"x","details":1,"metadata":2})",
          R"({"details":{"causes":{},"retryAfterSeconds":-1}})",
          R"({"details":{"causes":[1,"x",null,[]],"retryAfterSeconds":99999999999}})",
          R"({"details":null,"message":null,"code":-5})", R"({"metadata":{"name":"x"}})"}) {
        CAPTURE(body);
        const auto status = read_json_status(body);
        REQUIRE(status);
        CHECK(status->code == 0);
        CHECK(status->message.empty());
        CHECK(status->reason.empty());
        CHECK(status->retry_after_seconds == 0);
    }
    const auto mixed = read_json_status(R"({"message":"still here","details":[1],"code":503})");
    REQUIRE(mixed);
    CHECK(mixed->message == "still here");
    CHECK(mixed->code == 503);
}

TEST_CASE("read_json_status: random damage gives a status or none") {
    const std::string good =
        R"({"kind":"Status","message":"m\n\u00e9","reason":"r","code":504,"details":{"causes":[)"
        R"({"reason":"ResourceVersionTooLarge","message":"x"}],"retryAfterSeconds":1}})";
    std::mt19937 random(5);
    std::size_t readable = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string body = good;
        for (auto n = 1 + random() % 3; n > 0 && !body.empty(); --n) {
            const std::size_t at = random() % body.size();
            switch (random() % 3) {
                case 0: body[at] = static_cast<char>(random()); break;
                case 1: body.erase(at, 1 + random() % 20); break;
                default: body.insert(at, body.substr(random() % body.size(), 10)); break;
            }
        }
        const auto status = read_json_status(body);
        if (!status) continue;
        ++readable;
        CHECK(status->message.size() <= body.size());
    }
    CHECK(readable > 0);
    CHECK(readable < 2000);
}
