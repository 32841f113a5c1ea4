#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "unit/auth/issuer_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

ApiServerConfig with_oauth2() {
    ApiServerConfig server;
    server.url = "https://cluster:6443";
    server.auth.oauth2.emplace();
    server.auth.oauth2->client_id = "my client";
    server.auth.oauth2->client_secret = "s3cret&more";
    server.auth.oauth2->token_url = "https://login.example:8443/oauth2/token/?tenant=a b";
    return server;
}

const std::string good =
    TextServer::http(200, R"({"access_token": "one", "token_type": "bearer", "expires_in": 3600})");

struct Service : Issuers {
    explicit Service(std::string answer, const ApiServerConfig& server = with_oauth2())
        : Issuers(server) {
        service->answers = {std::move(answer)};
    }
    std::string body() const {
        const std::string& request = service->requests.back();
        return request.substr(request.find("\r\n\r\n") + 4);
    }
};

std::string error_of(int status, const std::string& body,
                     const std::string& type = "application/json") {
    return Service(TextServer::http(status, body, type)).get();
}

}  // namespace

TEST_CASE("OAuth2: asks with the client's name and secret in the header, and uses the token") {
    ApiServerConfig server = with_oauth2();
    server.auth.oauth2->scopes = {"a", "b/c"};
    server.auth.oauth2->endpoint_params = {{"audience", "x&y"}};
    server.auth.oauth2->headers = {{.name = "X-Tenant", .value = "red"}};
    Service f(good, server);
    CHECK(f.get() == "Bearer one");
    REQUIRE(f.service->requests.size() == 1);
    CHECK(f.service->targets[0].host == "login.example");
    CHECK(f.service->targets[0].port == "8443");
    CHECK(f.service->targets[0].tls.has_value());
    const std::string& request = f.service->requests[0];
    CHECK(request.starts_with("POST /oauth2/token/?tenant=a%20b HTTP/1.1\r\n"
                              "Host: login.example:8443\r\n"));
    // "my+client:s3cret%26more"
    CHECK(contains(request, "\r\nAuthorization: Basic bXkrY2xpZW50OnMzY3JldCUyNm1vcmU=\r\n"));
    CHECK(contains(request, "\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
    CHECK(contains(request, "\r\nX-Tenant: red\r\n"));
    CHECK(f.body() == "audience=x%26y&grant_type=client_credentials&scope=a+b%2Fc");
    CHECK(contains(request, "\r\nContent-Length: " + std::to_string(f.body().size()) + "\r\n"));
}

TEST_CASE("OAuth2: a service that wants the secret in the body gets it there, and at once the next "
          "time") {
    const int status = GENERATE(400, 401);
    Service f(TextServer::http(status, R"({"error": "invalid_client"})"));
    f.service->answers.push_back(good);
    CHECK(f.get() == "Bearer one");
    REQUIRE(f.service->requests.size() == 2);
    CHECK_FALSE(contains(f.service->requests[1], "Authorization"));
    CHECK(f.body() == "client_id=my+client&client_secret=s3cret%26more&"
                      "grant_type=client_credentials");
    f.advance(1h);
    CHECK(f.get() == "Bearer one");
    CHECK(f.service->requests.size() == 3);
    CHECK_FALSE(contains(f.service->requests[2], "Authorization"));
}

TEST_CASE("OAuth2: the token is renewed before it expires, whether the time is a number or text") {
    const std::string expiry = GENERATE("3600", "\"3600\"", "3600.5", "3.6e3");
    Service f(TextServer::http(200, R"({"access_token": "one", "expires_in": )" + expiry + "}"));
    f.get();
    f.advance(3539s);
    f.get();
    CHECK(f.service->requests.size() == 1);
    f.advance(1s);
    CHECK(f.get() == "Bearer one");
    CHECK(f.service->requests.size() == 2);
}

TEST_CASE("OAuth2: without a time that makes sense a token serves until it is refused") {
    const std::string expiry = GENERATE("0", "-1", "null", "\"soon\"", "{}", "1e300", "\"nan\"",
                                        "\"0001-01-01T00:00:00Z\"");
    Service f(TextServer::http(200, R"({"access_token": "one", "expires_in": )" + expiry + "}"));
    CHECK(f.get() == "Bearer one");
    f.advance(24h * 300);
    CHECK(f.get() == "Bearer one");
    CHECK(f.service->requests.size() == 1);
    f.refuse();
    CHECK(f.service->requests.size() == 2);
}

TEST_CASE("OAuth2: each failure is reported in the words of the service, without secrets") {
    const std::string prefix = "error: oauth2 token_url login.example:8443: ";
    CHECK(
        error_of(401, R"({"error": "invalid_client", "error_description": "no s3cret&more\n"})") ==
        prefix + "it answered HTTP 401: invalid_client: no <redacted>");
    CHECK(error_of(503, "<html>down</html>", "text/html") ==
          prefix + "it answered HTTP 503: the answer is a web page (HTML)");
    CHECK(error_of(400,
                   R"({"error": {"code": 400, "message": "no s3cret&more", "status": "BAD"}})") ==
          prefix + "it answered HTTP 400: BAD: no <redacted>");
    CHECK(error_of(302, "") == prefix + "it answered HTTP 302, a redirect, which is not followed; "
                                        "set token_url to its destination");
    CHECK(error_of(200, "<html>log in</html>", "text/html") ==
          prefix + "it answered text/html that is not a JSON object; is this the token_url?");
    CHECK(error_of(200, "{}") == prefix + "its answer has no access_token");
    CHECK(error_of(200, R"({"access_token": 1})") == prefix + "its answer has no access_token");
    CHECK(error_of(200, R"({"access_token": "t", "token_type": "mac"})") ==
          prefix + "it returned a token of the type \"mac\" instead of Bearer");
    CHECK(error_of(200, R"({"access_token": ")" + std::string(2 << 20, 'x') + "\"}") ==
          prefix + "it answered more than 1 MiB");
    CHECK(error_of(200, R"({"access_token": "a\r\nX-Evil: 1"})") ==
          "error: oauth2: the token contains a line break or another control character");
    CHECK(error_of(200, R"({"access_token": "t")").starts_with(prefix));
    CHECK(Service("garbage\r\n\r\n").get().starts_with(prefix + "the response is not valid HTTP"));
}

TEST_CASE("OAuth2: a refusal of the place where the secret worked leads to the other one, once") {
    const std::string refusal = TextServer::http(GENERATE(400, 401), R"({"error": "no"})");
    Service f(refusal);
    const auto in_header = [&f](std::size_t request) {
        return contains(f.service->requests.at(request), "Authorization: ");
    };
    f.service->answers = {refusal, good, refusal, good, refusal};
    f.get();
    f.advance(1h);
    CHECK(f.get() == "Bearer one");
    REQUIRE(f.service->requests.size() == 4);
    CHECK_FALSE(in_header(1));
    CHECK_FALSE(in_header(2));
    CHECK(in_header(3));
    f.advance(1h);
    f.get();
    REQUIRE(f.service->requests.size() == 6);
    CHECK(in_header(4));
    CHECK_FALSE(in_header(5));
}

TEST_CASE("OAuth2: no echo of a request shows a secret of it") {
    ApiServerConfig server = with_oauth2();
    server.auth.oauth2->endpoint_params = {{"password", "pa ss&word/1"},
                                           {"pin", "4711"},
                                           {"key", "s/3"},
                                           {"empty", ""},
                                           {"tenant", "red"}};
    server.auth.oauth2->headers = {{.name = "X-Key", .value = "key-of-the-gateway"}};
    for (const char* echo :
         {"bXkrY2xpZW50OnMzY3JldCUyNm1vcmU=", "s3cret&more", "s3cret%26more", "pa ss&word/1",
          "pa+ss%26word%2F1", "pa%20ss%26word%2f1", "key-of-the-gateway", "4711", "s/3", "s%2F3"}) {
        CAPTURE(echo);
        Service f(TextServer::http(403, R"({"error": "red: )" + std::string(echo) + "\"}"), server);
        CHECK(f.get().ends_with(" HTTP 403: red: <redacted>"));
        Service g(TextServer::http(200, R"({"access_token": "t", "token_type": ")" +
                                            std::string(echo) + "\"}"),
                  server);
        CHECK(contains(g.get(), "a token of the type "));
        CHECK_FALSE(contains(g.get(), echo));
    }
}

TEST_CASE("OAuth2: a short parameter is hidden only as a whole word") {
    ApiServerConfig server = with_oauth2();
    server.auth.oauth2->endpoint_params = {{"pin", "403"}};
    Service f(TextServer::http(400, R"({"error": "1403, 4031: 403"})"), server);
    CHECK(f.get().ends_with(" HTTP 400: 1403, 4031: <redacted>"));
}

TEST_CASE("OAuth2: a service that hangs has failed after 30 s, and pauses grow to a minute") {
    Service f("");
    CHECK(f.get().empty());
    f.advance(30s);
    CHECK(f.received->starts_with("error: oauth2 token_url login.example:8443: "));
    for (int second = 0; second < 600; ++second) {
        f.get();
        f.advance(1s);
    }
    CHECK(f.service->requests.size() <= 16);
    f.service->answers = {good};
    f.advance(60s);
    f.get();
    f.advance(60s);
    CHECK(f.get() == "Bearer one");
}

TEST_CASE("OAuth2: an answer with a byte order mark is read") {
    Service f(TextServer::http(200, "\xef\xbb\xbf{\"access_token\": \"one\"}"));
    CHECK(f.get() == "Bearer one");
}

TEST_CASE("OAuth2: the file of the secret is read anew for each token") {
    const TemporaryDirectory directory;
    ApiServerConfig server = with_oauth2();
    server.auth.oauth2->client_secret.clear();
    server.auth.oauth2->client_secret_file = directory.path("secret");
    Service f(good, server);
    CHECK(f.get() == "error: oauth2 token_url login.example:8443: oauth2.client_secret_file " +
                         directory.path("secret") + ": No such file or directory");
    directory.write("secret", "first\n");
    f.advance(1s);
    CHECK(f.get() == "Bearer one");
    // "my+client:first"
    CHECK(contains(f.service->requests.back(), "Basic bXkrY2xpZW50OmZpcnN0\r\n"));
    directory.write("secret", "second\n");
    f.advance(2h);
    f.get();
    // "my+client:second"
    CHECK(contains(f.service->requests.back(), "Basic bXkrY2xpZW50OnNlY29uZA==\r\n"));
}

TEST_CASE("OAuth2: a token_url that is none is an error of the configuration") {
    for (const char* url :
         {"", "ftp://login", "https://", "https://user:pw@login/x", "https://a b/"}) {
        ApiServerConfig server = with_oauth2();
        server.auth.oauth2->token_url = url;
        CHECK_THROWS_AS(Issuers(server), ConfigError);
    }
    // Characters that are invalid in a request are escaped.
    ApiServerConfig server = with_oauth2();
    server.auth.oauth2->token_url = "http://login/a\r\nX-Evil: 1";
    Service f(good, server);
    f.get();
    CHECK(
        f.service->requests[0].starts_with("POST /a%0D%0AX-Evil:%201 HTTP/1.1\r\nHost: login\r\n"));
    CHECK_FALSE(f.service->targets[0].tls.has_value());
}
