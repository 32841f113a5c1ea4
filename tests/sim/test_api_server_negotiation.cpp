#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd::test;

namespace {

const std::string protobuf = "application/vnd.kubernetes.protobuf";
const std::string json_type = "application/json";

/// The media type of the answer; the status if it is no 200.
std::string answer(RawClient& client, const std::string& target, const std::string& accept) {
    client.get(target, "Accept: " + accept + "\r\n");
    if (client.status() != 200) return std::to_string(client.status());
    const std::string header = client.header();
    const std::size_t begin = header.find("Content-Type: ") + 14;
    return header.substr(begin, header.find("\r\n", begin) - begin);
}

std::string answer(const std::string& accept, const ApiServerOptions& options = {}) {
    Fixture f(options);
    auto client = f.client();
    return answer(client, "/api/v1/pods", accept);
}

}  // namespace

TEST_CASE("ApiServer: the Accept header is read as the real server reads it") {
    CHECK(answer("") == json_type);
    CHECK(answer("*/*") == json_type);
    CHECK(answer("*") == json_type);
    CHECK(answer("application/*") == json_type);
    CHECK(answer(protobuf) == protobuf);
    CHECK(answer("  " + protobuf + " ; charset=utf-8 ") == protobuf);
    CHECK(answer(protobuf + ",application/json;q=0.9") == protobuf);
    CHECK(answer("application/json;q=0.9, " + protobuf) == protobuf);
    CHECK(answer(protobuf + ";q=0.5,application/json;q=0.6") == json_type);
    CHECK(answer("application/json," + protobuf) == json_type);
    CHECK(answer("text/html,*/*;q=0.1") == json_type);
    // The more special comes first, whatever its quality.
    CHECK(answer("*/*, " + protobuf + ";q=0.1") == protobuf);
    CHECK(answer(protobuf + ";stream=watch") == protobuf);
    CHECK(answer(protobuf + ";stream=other") == "406");
    CHECK(answer("text/html") == "406");
    CHECK(answer("application") == "406");
    CHECK(answer("application/json/x") == "406");
    CHECK(answer("*/json") == "406");
    CHECK(answer(",;=,") == "406");
    CHECK(answer("Application/JSON") == "406");
}

TEST_CASE("ApiServer: what it accepts is named in a 406 Status") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods", "Accept: text/html\r\n");
    CHECK(client.object().at("reason") == "NotAcceptable");
    CHECK(client.object().at("message") ==
          "only the following media types are accepted: application/json, "
          "application/vnd.kubernetes.protobuf");
    client.get("/api/v1/pods?watch=1", "Accept: text/html\r\n");
    CHECK(client.status() == 406);
}

TEST_CASE("ApiServer: without protobuf it answers what else is accepted, or 406") {
    ApiServerOptions options;
    options.protobuf = false;
    CHECK(answer(protobuf + ",application/json;q=0.9", options) == json_type);
    CHECK(answer(protobuf, options) == "406");
    Fixture f(options);
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods?watch=1", protobuf) == "406");
    CHECK(client.object().at("message") ==
          "only the following media types are accepted: application/json");
    CHECK(answer(client, "/api/v1/pods?watch=1", protobuf + ",*/*") == json_type);
}

TEST_CASE("ApiServer: an Accept header of many parts is read to its end") {
    std::string many;
    for (int i = 0; i < 2'000; ++i) many += "a/b;q=0." + std::to_string(i) + ",";
    CHECK(answer(many) == "406");
    CHECK(answer(many + protobuf) == protobuf);
}
