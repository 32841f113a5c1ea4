#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "unit/auth/issuer_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <new>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// The head of a request without the common lines.
std::string extra_lines(const ApiServerConfig& config) {
    boost::asio::io_context context;
    const detail::ApiClientImpl client(context.get_executor(), config, {});
    const std::string text = client.make_request("/api", {}).text;
    const std::string last = "Accept-Encoding: identity\r\n";
    return text.substr(text.find(last) + last.size());
}

ApiServerConfig server() {
    ApiServerConfig config;
    config.url = "http://cluster";
    return config;
}

}  // namespace

TEST_CASE("Requests: headers of the configuration in their order") {
    ApiServerConfig config = server();
    config.headers = {{.name = "X-B", .value = "2"},
                      {.name = "X-A", .value = "1"},
                      {.name = "X-B", .value = "3"}};
    CHECK(extra_lines(config) == "X-B: 2\r\nX-A: 1\r\nX-B: 3\r\n\r\n");
    CHECK(extra_lines(server()) == "\r\n");
}

TEST_CASE("Requests: impersonation of a user, its id, groups and what else is known of it") {
    ApiServerConfig config = server();
    config.impersonate.user = "jane@example.com";
    config.impersonate.uid = "06f6ce97";
    config.impersonate.groups = {"developers", "admins"};
    config.impersonate.extra = {{"Scopes", {"view", "development"}},
                                {"acme.com/Project 100%", {"a b"}}};
    CHECK(extra_lines(config) == "Impersonate-User: jane@example.com\r\n"
                                 "Impersonate-Uid: 06f6ce97\r\n"
                                 "Impersonate-Group: developers\r\n"
                                 "Impersonate-Group: admins\r\n"
                                 "Impersonate-Extra-scopes: view\r\n"
                                 "Impersonate-Extra-scopes: development\r\n"
                                 "Impersonate-Extra-acme.com%2Fproject%20100%25: a b\r\n\r\n");
}

TEST_CASE("Requests: nothing of the configuration adds a line to a request") {
    const auto refused = [](const auto& change) {
        ApiServerConfig config = server();
        change(config);
        CHECK_THROWS_AS(extra_lines(config), ConfigError);
    };
    const std::string evil = "a\r\nX-Evil: 1";
    refused([&](auto& c) { c.headers = {{.name = "X-A", .value = evil}}; });
    refused([&](auto& c) { c.headers = {{.name = evil, .value = "a"}}; });
    refused([&](auto& c) { c.headers = {{.name = "", .value = "a"}}; });
    refused([&](auto& c) { c.headers = {{.name = "X A", .value = "a"}}; });
    refused([&](auto& c) { c.headers = {{.name = evil, .file = "/nowhere"}}; });
    refused([&](auto& c) { c.impersonate.user = evil; });
    refused([&](auto& c) { c.impersonate.uid = evil; });
    refused([&](auto& c) { c.impersonate.groups = {evil}; });
    refused([&](auto& c) { c.impersonate.extra = {{"a", {evil}}}; });
    ApiServerConfig config = server();
    config.impersonate.extra = {{evil, {"v"}}};
    CHECK(extra_lines(config) == "Impersonate-Extra-a%0D%0Ax-evil%3A%201: v\r\n\r\n");
}

TEST_CASE("Requests: headers from files are read again, and a broken file keeps the old value") {
    const TemporaryDirectory directory;
    ApiServerConfig config = server();
    config.auth.bearer_token = "t";
    config.headers = {{.name = "X-A", .value = "fixed"},
                      {.name = "X-B", .file = directory.path("b")},
                      {.name = "X-C", .value = "last"}};
    Issuers f(config);
    CHECK(f.get() == "error: header X-B " + directory.path("b") + ": No such file or directory");
    directory.write("b", " one \n");
    CHECK(f.get() == "Bearer t");
    CHECK(f.headers == "X-A: fixed\r\nX-B: one\r\nX-C: last\r\n");
    CHECK(extra_lines(config) == "\r\n");

    directory.write("b", "two");
    f.advance(59s);
    f.get();
    CHECK(contains(f.headers, "X-B: one\r\n"));
    f.advance(1s);
    f.get();
    CHECK(contains(f.headers, "X-B: two\r\n"));
    directory.write("b", "three\r\nX-Evil: 1");
    f.advance(60s);
    CHECK(f.get() == "Bearer t");
    CHECK(contains(f.headers, "X-B: two\r\n"));
    CHECK(f.log ==
          std::vector<std::string>{"header X-B " + directory.path("b") +
                                   ": it contains a line break or another control character; the "
                                   "value read before stays in use"});
    // Immediately after a 401.
    directory.write("b", "four-of-a-kind");
    CHECK(f.refuse()->value());
    f.get();
    CHECK(contains(f.headers, "X-B: four-of-a-kind\r\n"));
    // Short values count as names, regardless of their source.
    CHECK(f.clients[0]->redact("four-of-a-kind and fixed") == "<redacted> and fixed");
}

TEST_CASE("Requests: without memory for headers from files there is an answer, and then headers") {
    const TemporaryDirectory directory;
    ApiServerConfig config = server();
    config.headers = {{.name = "X-A", .file = directory.write("a", std::string(100, 'x'))}};
    for (long left = 0; left < 40; ++left) {
        INFO(left);
        Issuers f(config);
        int answers = 0;
        bool begun = false;
        allocations_left = left;
        try {
            f.clients[0]->async_get([&answers](const detail::RequestCredentials&) { ++answers; });
            begun = true;
            f.settle();
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
        f.advance(11s);  // a file takes at most 10 s
        CHECK((answers == 1 || (answers == 0 && !begun)));
        CHECK(f.get().empty());
        CHECK(f.headers == "X-A: " + std::string(100, 'x') + "\r\n");
    }
}

TEST_CASE("Requests: credentials from files stand behind headers of the configuration") {
    boost::asio::io_context context;
    const detail::ApiClientImpl client(context.get_executor(), server(), {});
    detail::RequestCredentials credentials;
    detail::append(credentials.value, "Bearer t");
    detail::append(credentials.headers, "X-A: 1\r\n");
    CHECK(client.make_request("/api", credentials)
              .text.ends_with("\r\nAuthorization: Bearer t\r\nX-A: 1\r\n\r\n"));
}

TEST_CASE("Requests: user name and password may both be files, and the scheme another one") {
    const TemporaryDirectory directory;
    ApiServerConfig config = server();
    config.auth.username_file = directory.write("user", "Aladdin\n");
    config.auth.password_file = directory.write("password", "open sesame\n");
    Issuers f(config);
    CHECK(f.get() == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    std::filesystem::remove(directory.path("user"));
    directory.write("password", "closed");
    f.advance(60s);
    CHECK(f.get() == "Basic QWxhZGRpbjpjbG9zZWQ=");
    CHECK(contains(f.problem, "username_file " + directory.path("user") + ": "));

    ApiServerConfig scheme = server();
    scheme.auth.bearer_token = "abc";
    scheme.auth.scheme = "Token";
    CHECK(Issuers(scheme).get() == "Token abc");
}

TEST_CASE("Requests: the value of a header reaches no text") {
    boost::asio::io_context context;
    ApiServerConfig config = server();
    config.headers = {{.name = "X-Api-Key", .value = "k3y-of-this-test"},
                      {.name = "X-Scope", .value = "prod"}};
    const detail::ApiClientImpl client(context.get_executor(), config, {});
    CHECK(client.redact("prod: k3y-of-this-test is unknown") == "prod: <redacted> is unknown");
}

TEST_CASE("Requests: a client certificate that was issued has a target of its own, which stays") {
    boost::asio::io_context context;
    ApiServerConfig config = server();
    config.url = "https://cluster";
    config.tls.ca = "CA";
    config.tls.cert_file = "/cert";
    config.tls.key_file = "/key";
    detail::ApiClientImpl client(context.get_executor(), config, {});
    detail::RequestCredentials credentials;
    const auto configured = client.target_for(credentials);
    CHECK(configured->tls->cert_file == "/cert");
    detail::ClientIdentity identity;
    detail::append(identity.certificate, "C");
    detail::append(identity.key, "K");
    credentials.identity = std::make_shared<const detail::ClientIdentity>(identity);
    const auto issued = client.target_for(credentials);
    CHECK(issued != configured);
    CHECK(issued->tls->ca == "CA");
    CHECK(issued->tls->cert == "C");
    CHECK(issued->tls->key == "K");
    CHECK(issued->tls->cert_file.empty());
    CHECK(issued->tls->key_file.empty());
    CHECK(client.target_for(credentials) == issued);
    credentials.identity = std::make_shared<const detail::ClientIdentity>(identity);
    CHECK(client.target_for(credentials) != issued);
}
