#include "access/access.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using boost::beast::http::field;
using k8s_sd_program::AccessOptions;
using k8s_sd_program::AccessPolicy;
using k8s_sd_program::PathClass;

/// A temporary file with secrets.
class SecretFile {
 public:
    explicit SecretFile(const std::string& text) {
        std::string name =
            (std::filesystem::temp_directory_path() / "k8s-sd-access-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        set(text);
    }
    ~SecretFile() { std::filesystem::remove_all(folder_); }
    SecretFile(const SecretFile&) = delete;
    SecretFile& operator=(const SecretFile&) = delete;

    void set(const std::string& text) const { std::ofstream(path()) << text; }
    void remove() const { std::filesystem::remove(path()); }
    std::string path() const { return (folder_ / "token").string(); }

 private:
    std::filesystem::path folder_;
};

struct Asking {
    std::string_view path = "/sd/pods";
    std::string authorization{};
    std::string host = "127.0.0.1:8080";
    std::string origin{};
    std::string_view method = "GET";
    bool verified = false;
};

unsigned status_of(const AccessPolicy& access, const Asking& asking) {
    boost::beast::http::fields headers;
    if (!asking.host.empty()) headers.set(field::host, asking.host);
    if (!asking.origin.empty()) headers.set(field::origin, asking.origin);
    if (!asking.authorization.empty()) headers.set(field::authorization, asking.authorization);
    http::HttpServer::Client client;
    client.verified = asking.verified;
    const auto refusal = access.refusal({asking.method, asking.path, {}, {}, client, headers});
    return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("AccessPolicy: each path is of a class, and what is not known is of the page's") {
    const std::pair<std::string_view, PathClass> table[] = {
        {"/livez", PathClass::probe},
        {"/-/ready", PathClass::probe},
        {"/metrics", PathClass::metrics},
        {"/sd/pods/targets", PathClass::list},
        {"/scrape_configs", PathClass::list},
        {"/jobs", PathClass::list},
        {"/jobs/a/targets", PathClass::list},
        {"/v1/watch", PathClass::list},
        {"/-/reload", PathClass::control},
        {"/-/other", PathClass::control},
        {"/", PathClass::page},
        {"/ui/app.js", PathClass::page},
        {"/api/v1/targets", PathClass::page},
        {"/metricsx", PathClass::page},
        {"/livezz", PathClass::page},
        {"//livez", PathClass::page},
        {"/%2f", PathClass::page},
        {"", PathClass::page},
    };
    for (const auto& [path, path_class] : table) {
        INFO(path);
        CHECK(k8s_sd_program::class_of(path) == path_class);
    }
}

TEST_CASE("AccessPolicy: without options everybody may have everything") {
    const AccessPolicy access({}, false);
    for (const char* path : {"/livez", "/metrics", "/sd/pods", "/", "/-/reload"}) {
        CHECK(status_of(access, {.path = path, .host = "a.example"}) == 200);
        CHECK(status_of(access, {.path = path, .host = ""}) == 200);
    }
}

TEST_CASE(
    "AccessPolicy: lists, the page and control want the token of lists, probes and metrics none") {
    const SecretFile file("s3cret\n");
    const AccessPolicy access({.list_token_file = file.path()}, false);
    for (const char* path : {"/sd/pods", "/", "/api/v1/targets", "/-/reload"}) {
        CHECK(status_of(access, {.path = path}) == 401);
        CHECK(status_of(access, {.path = path, .authorization = "Bearer s3cret"}) == 200);
    }
    for (const char* path : {"/livez", "/readyz", "/metrics"}) {
        CHECK(status_of(access, {.path = path}) == 200);
    }
}

TEST_CASE("AccessPolicy: each class may have a token of its own, which opens nothing else") {
    const SecretFile lists("lists");
    const SecretFile page("page");
    const SecretFile control("control");
    const SecretFile metrics("metrics");
    const AccessPolicy access({.list_token_file = lists.path(),
                               .page_token_file = page.path(),
                               .control_token_file = control.path(),
                               .metrics_token_file = metrics.path()},
                              false);
    const std::pair<const char*, std::string> table[] = {
        {"/sd/a", "lists"}, {"/", "page"}, {"/-/reload", "control"}, {"/metrics", "metrics"}};
    for (const auto& [path, own] : table) {
        for (const auto& [other_path, token] : table) {
            CHECK(status_of(access, {.path = path, .authorization = "Bearer " + token}) ==
                  (own == token ? 200 : 401));
        }
    }
}

TEST_CASE("AccessPolicy: a token is one line of the file, and nothing like it is") {
    const SecretFile file("  new one \r\n\nold\n");
    const AccessPolicy access({.list_token_file = file.path()}, false);
    const auto with = [&](const std::string& authorization) {
        return status_of(access, {.authorization = authorization});
    };
    for (const char* right : {"Bearer old", "bearer  old ", "Bearer new one",
                              "Basic YW55Ym9keTpvbGQ=", "basic Om9sZA=="}) {
        INFO(right);
        CHECK(with(right) == 200);
    }
    // In Base64: "old", "old:", "a:old:", "a:ol", "a:older"; then no Base64 at all.
    for (const char* wrong :
         {"Bearer", "Bearer ", "old", "Bearer ol", "Bearer older", "Bearer OLD", "Digest old",
          "Bearer new", "Bearer  ", "Basic b2xk", "Basic b2xkOg==", "Basic YTpvbGQ6",
          "Basic YTpvbA==", "Basic YTpvbGRlcg==", "Basic", "Basic =", "Basic ====", "Basic a",
          "Basic !!!!"}) {
        INFO(wrong);
        CHECK(with(wrong) == 401);
    }
}

TEST_CASE("AccessPolicy: a browser is asked for a password where the page is, agents for a token") {
    const SecretFile file("token");
    const AccessPolicy access({.list_token_file = file.path()}, false);
    const auto challenge = [&](std::string_view path) {
        const boost::beast::http::fields headers;
        const http::HttpServer::Client client;
        return access.refusal({"GET", path, {}, {}, client, headers})->headers.back();
    };
    CHECK(challenge("/") == std::pair{field::www_authenticate,
                                      std::string(R"(Basic realm="k8s-sd", charset="UTF-8")")});
    CHECK(challenge("/sd/a") ==
          std::pair{field::www_authenticate, std::string(R"(Bearer realm="k8s-sd")")});
}

TEST_CASE("AccessPolicy: a renewed token counts, and a file without one changes nothing") {
    const SecretFile file("first");
    AccessPolicy access({.list_token_file = file.path()}, false);
    const auto accepted = [&](const std::string& token) {
        return status_of(access, {.authorization = "Bearer " + token}) == 200;
    };
    file.set("second\nfirst\n");
    CHECK(access.refresh().empty());
    CHECK(accepted("second"));
    CHECK(accepted("first"));
    file.set("second\n");
    CHECK(access.refresh().empty());
    CHECK_FALSE(accepted("first"));
    file.set("\n \n");
    CHECK(access.refresh() ==
          std::vector<std::string>{"the tokens in use stay: " + file.path() + " has no token"});
    CHECK(access.refresh().empty());
    file.remove();
    CHECK(access.refresh() ==
          std::vector<std::string>{"the tokens in use stay: cannot read " + file.path() +
                                   ": No such file or directory"});
    CHECK(accepted("second"));
    CHECK_FALSE(accepted(""));
    file.set("third");
    CHECK(access.refresh().empty());
    CHECK(accepted("third"));
}

TEST_CASE("AccessPolicy: a file that has no token from the start opens nothing to everybody") {
    const SecretFile file("");
    CHECK_THROWS_AS(AccessPolicy({.page_token_file = file.path()}, false), std::runtime_error);
    CHECK_THROWS_AS(AccessPolicy({.page_token_file = "/dev/zero"}, false), std::runtime_error);
    CHECK_THROWS_AS(AccessPolicy({.page_token_file = "/"}, false), std::runtime_error);
}

TEST_CASE("AccessPolicy: on localhost names of other hosts are refused, except to probes") {
    const AccessPolicy access({.hosts = {"sd.example"}}, true);
    for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]",
                             "10.0.0.1", "SD.example:80", ""}) {
        INFO(host);
        CHECK(status_of(access, {.host = host}) == 200);
    }
    for (const char* host :
         {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
          ":8080", "[", "a]", "[]", "sd.example.evil", "localhost:8080@evil", "localhost:x",
          "evil@localhost", "[::1]evil", "[::1].evil", "localhost evil"}) {
        INFO(host);
        CHECK(status_of(access, {.path = "/", .host = host}) == 403);
        CHECK(status_of(access, {.path = "/-/reload", .host = host, .method = "POST"}) == 403);
        CHECK(status_of(access, {.path = "/livez", .host = host}) == 200);
    }
}

TEST_CASE("AccessPolicy: a page of another server may not change anything") {
    const AccessPolicy access({}, false);
    const auto with = [&](const std::string& origin, std::string_view method = "POST") {
        return status_of(
            access,
            {.path = "/-/reload", .host = "sd.example:8080", .origin = origin, .method = method});
    };
    CHECK(with("") == 200);
    CHECK(with("http://sd.example:8080") == 200);
    CHECK(with("https://SD.example:8080") == 200);
    for (const char* origin : {"null", "http://evil.example", "http://sd.example",
                               "http://sd.example:80801", "sd.example:8080", "://", "http://"}) {
        INFO(origin);
        CHECK(with(origin) == 403);
        CHECK(with(origin, "GET") == 200);
    }
}

TEST_CASE("AccessPolicy: where a certificate is required, only probes get through without one") {
    const SecretFile file("token");
    const AccessPolicy access({.list_token_file = file.path(), .require_client_cert = true}, false);
    CHECK(status_of(access, {.authorization = "Bearer token"}) == 403);
    CHECK(status_of(access, {.authorization = "Bearer token", .verified = true}) == 200);
    CHECK(status_of(access, {.verified = true}) == 401);
    CHECK(status_of(access, {.path = "/metrics"}) == 403);
    CHECK(status_of(access, {.path = "/livez"}) == 200);
}
