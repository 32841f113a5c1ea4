#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

using sim::Request;
using sim::Response;

/// A server with widgets and some invalid discovery documents.
struct HostileSearch : Simulation {
    using Answer = std::function<std::optional<Response>(const std::string& path)>;

    explicit HostileSearch(Answer answer) {
        server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
        server.apply(R"({"apiVersion":"example.com/v1","kind":"Widget",)"
                     R"("metadata":{"name":"a","namespace":"shop"}})");
        server.set_intercept(
            [answer = std::move(answer)](const Request& request) { return answer(request.path); });
        WatcherConfig config;
        config.api_server.url = server.url();
        config.resource = {.group = "example.com", .kind = "Widget"};
        watcher.emplace(context.get_executor(), config,
                        [this](const ObjectDiff<Generic>& diff) { objects += diff.added.size(); });
        watcher->async_run([](error_code) {});
    }
    ~HostileSearch() { watcher.reset(); }
    HostileSearch(const HostileSearch&) = delete;
    HostileSearch& operator=(const HostileSearch&) = delete;

    /// The status message ten minutes later.
    std::string message() {
        advance(10min);
        CHECK(objects == 0);
        CHECK_FALSE(watcher->status().synced);
        CHECK(watcher->status().error);
        return watcher->status().message;
    }
    /// The maximum number of requests in any minute of the next half hour, at full pause length.
    std::size_t max_requests_per_minute() {
        std::size_t most = 0;
        for (int minute = 0; minute < 30; ++minute) {
            server.clear_requests();
            advance(1min);
            most = std::max(most, server.requests().size());
        }
        return most;
    }
    /// Once the server recovers, the resource is found within a minute.
    bool recovers() {
        server.set_intercept({});
        advance(1min + 10s);
        return objects == 1 && watcher->status().synced && !watcher->status().error;
    }

    std::optional<Watcher<Generic>> watcher;
    std::size_t objects = 0;
};

constexpr std::string_view group_document = "/apis/example.com";
constexpr std::string_view version_document = "/apis/example.com/v1";

Response document_of(std::string body, std::string type = "application/json") {
    Response response;
    response.body = std::move(body);
    response.content_type = std::move(type);
    return response;
}

/// The response in place of one document.
HostileSearch::Answer in_place_of(std::string_view document, const Response& response) {
    return [document, response](const std::string& path) -> std::optional<Response> {
        if (path != document) return std::nullopt;
        return response;
    };
}

const std::string login_page = "<!DOCTYPE html><html><body>Log in</body></html>";

}  // namespace

TEST_CASE("Resource search: an invalid discovery document is reported, and requested rarely") {
    for (const std::string_view document : {group_document, version_document}) {
        for (const std::string& body :
             {std::string(), std::string("{"), std::string("[]"), std::string("5"),
              std::string("{}"), std::string(R"({"kind":7,"versions":{},"resources":5})"),
              std::string(100'000, '['), login_page}) {
            CAPTURE(document, body.substr(0, 100));
            HostileSearch search(in_place_of(document, document_of(body, "text/html")));
            CHECK_THAT(search.message(), ContainsSubstring("did not answer with an ") &&
                                             ContainsSubstring(std::string(document)));
            CHECK(search.watcher->status().error == errc::malformed_response);
            CHECK(search.max_requests_per_minute() <= 6);
            CHECK(search.recovers());
        }
    }
}

TEST_CASE("Resource search: documents without fields, or with strange ones, have no resource") {
    for (const char* body :
         {R"({"kind":"APIGroup"})", R"({"kind":"APIGroup","versions":[]})",
          R"({"kind":"APIGroup","versions":[5,null,{},{"version":7}],"preferredVersion":[]})",
          R"({"kind":"APIGroup","versions":[{"version":"v1/../../secrets"},{"version":"../x"},)"
          R"({"version":"v1?watch=1"},{"version":"V 1"},{"version":""}]})"}) {
        CAPTURE(body);
        HostileSearch search(in_place_of(group_document, document_of(body)));
        CHECK_THAT(search.message(), ContainsSubstring(R"(has no "Widget")"));
        for (const sim::RequestRecord& record : search.server.requests())
            CHECK(record.request.path == group_document);
        CHECK(search.max_requests_per_minute() <= 3);
        CHECK(search.recovers());
    }
    for (const char* body :
         {R"({"kind":"APIResourceList","resources":[]})",
          R"({"kind":"APIResourceList","resources":[{},5,{"kind":"Widget"},{"name":"widgets"}]})",
          R"({"kind":"APIResourceList","resources":[{"kind":"Widget","name":"widgets/status",)"
          R"("verbs":["list","watch"]},{"kind":"Widget","name":"../secrets",)"
          R"("verbs":["list","watch"]}]})",
          R"({"kind":"APIResourceList","resources":[{"kind":"Widget","name":"w?x=1",)"
          R"("verbs":["list","watch"]}]})"}) {
        CAPTURE(body);
        HostileSearch search(in_place_of(version_document, document_of(body)));
        CHECK_THAT(search.message(), ContainsSubstring(R"(has no "Widget")"));
        CHECK(search.max_requests_per_minute() <= 6);
        CHECK(search.recovers());
    }
    HostileSearch search(in_place_of(
        version_document,
        document_of(R"({"kind":"APIResourceList","resources":[{"kind":"Widget","name":"widgets",)"
                    R"("verbs":[5,"get"]}]})")));
    CHECK_THAT(search.message(), ContainsSubstring("cannot be listed and watched"));
}

TEST_CASE("Resource search: of documents of 5 MB no more than 4 MiB is read") {
    for (const std::string_view document : {group_document, version_document}) {
        CAPTURE(document);
        const std::string body =
            R"({"kind":"APIGroup","x":")" + std::string(5'000'000, 'x') + "\"}";
        HostileSearch search(in_place_of(document, document_of(body)));
        CHECK_THAT(search.message(), ContainsSubstring("4 MiB"));
        CHECK(search.watcher->status().error == errc::malformed_response);
        CHECK(search.max_requests_per_minute() <= 6);
        CHECK(search.recovers());
    }
}

TEST_CASE("Resource search: of thousands of versions sixteen are asked for") {
    std::string body = R"({"kind":"APIGroup","versions":[{"version":"v0"})";
    for (int i = 1; i < 5000; ++i) body += R"(,{"version":"v9)" + std::to_string(i) + "\"}";
    HostileSearch search(in_place_of(group_document, document_of(body + "]}")));
    CHECK_THAT(search.message(), ContainsSubstring(R"(has no "Widget")"));
    CHECK(search.max_requests_per_minute() <= std::size_t{3} * (1 + 16));
    CHECK(search.recovers());
}

TEST_CASE("Resource search: a server without an answer is asked again, and reported") {
    for (const std::string_view document : {group_document, version_document}) {
        CAPTURE(document);
        HostileSearch search(in_place_of(document, Response::never()));
        CHECK_THAT(search.message(), ContainsSubstring("no response within 10"));
        CHECK(search.watcher->status().error == errc::response_timeout);
        CHECK(search.max_requests_per_minute() <= 6);
        CHECK(search.recovers());
        HostileSearch dropping(in_place_of(document, Response::disconnect()));
        CHECK_FALSE(dropping.message().empty());
        CHECK(dropping.max_requests_per_minute() <= 12);  // a kept connection's request is repeated
        CHECK(dropping.recovers());
    }
}

TEST_CASE("Resource search: the HTTP status of a refusal is reported") {
    for (const unsigned status : {301U, 302U, 307U, 400U, 401U, 403U, 429U, 500U, 503U}) {
        for (const std::string_view document : {group_document, version_document}) {
            CAPTURE(status, document);
            Response response = Response::failure(status, "Reason", "try\nlater");
            response.headers = {{"Location", "http://169.254.169.254/"}, {"Retry-After", "0"}};
            HostileSearch search(in_place_of(document, response));
            CHECK_THAT(search.message(), ContainsSubstring("HTTP " + std::to_string(status)));
            for (const sim::RequestRecord& record : search.server.requests())
                CHECK(record.request.path.starts_with(group_document));
            CHECK(search.max_requests_per_minute() <= 6);
            CHECK(search.recovers());
            response.body = login_page;
            response.content_type = "text/html";
            HostileSearch page(in_place_of(document, response));
            CHECK_THAT(page.message(), ContainsSubstring("HTTP " + std::to_string(status)));
        }
    }
}
