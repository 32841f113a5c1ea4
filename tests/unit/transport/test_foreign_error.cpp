#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <string_view>

using k8s_sd::detail::printable;
using k8s_sd::detail::read_foreign_error;

TEST_CASE("read_foreign_error: the sentence for people is found in the forms of services") {
    struct Row {
        std::string_view body, expected;
    };
    for (const Row& row : {
             // Google
             Row{R"({"error": {"code": 403,
                     "message": "Required \"container.pods.list\" permission.",
                     "status": "PERMISSION_DENIED", "details": [{"@type": "x"}]}})",
                 R"(PERMISSION_DENIED: Required "container.pods.list" permission.)"},
             Row{R"([{"error": {"code": 401, "message": "invalid", "status": "UNAUTHENTICATED"}}])",
                 "UNAUTHENTICATED: invalid"},
             // Azure
             Row{R"({"error": {"code": "AuthorizationFailed", "message": "no action"}})",
                 "AuthorizationFailed: no action"},
             // AWS
             Row{R"({"__type": "AccessDenied", "Message": "User: x"})", "AccessDenied: User: x"},
             // OAuth 2
             Row{R"({"error": "invalid_client", "error_description": "who?"})",
                 "invalid_client: who?"},
             Row{R"({"error": "invalid_client"})", "invalid_client"},
             // RFC 9457
             Row{R"({"type": "about:blank", "title": "Forbidden", "status": 403, "detail": "no"})",
                 "Forbidden: no"},
             Row{R"({"title": "Forbidden"})", "Forbidden"},
             // Spring, gateways, others
             Row{R"({"timestamp": "t", "status": 404, "error": "Not Found", "message": "no path"})",
                 "Not Found: no path"},
             Row{R"({"message": "no Route matched with those values"})",
                 "no Route matched with those values"},
             Row{R"({"fault": {"faultstring": "quota", "detail": {"errorcode": "x"}}})", "quota"},
             Row{R"({"errors": [{"message": "denied"}, {"message": "more"}]})", "denied"},
             Row{R"({"errors": ["permission denied"]})", "permission denied"},
             Row{R"({"status": "error", "message": "down"})", "down"},
             Row{R"({"kind": "Status", "status": "Failure", "message": "pods is forbidden"})",
                 "pods is forbidden"},
             Row{"\xef\xbb\xbf{\"message\": \"marked\"}", "marked"},
             Row{R"({"message": "half \ud800 pair"})", "half \xef\xbf\xbd pair"},
             // bodies without a message
             Row{"{}", ""},
             Row{"[]", ""},
             Row{R"({"error": null, "message": 5})", ""},
             Row{R"({"error": {}})", ""},
             Row{"", ""},
             Row{" \r\n", ""},
             // others
             Row{" no healthy upstream\n", "no healthy upstream"},
             Row{"{\"message\": \"cut", "{\"message\": \"cut"},
             Row{"<html>secret", "the answer is a web page (HTML)"},
             Row{"<html><head><TITLE>\n 403 Forbidden </title>",
                 "the answer is a web page (HTML) with the title \"403 Forbidden\""},
             Row{"<title", "the answer is a web page (HTML)"},
             Row{"<title>x", "the answer is a web page (HTML)"},
             Row{"<title></title>", "the answer is a web page (HTML)"},
         }) {
        INFO(row.body);
        CHECK(read_foreign_error(row.body) == row.expected);
    }
}

TEST_CASE("read_foreign_error: hostile bodies are read in bounds, and printed as one line") {
    CHECK(read_foreign_error(std::string(2 << 20, '{')).empty());
    CHECK(read_foreign_error(std::string(100'000, '[')).size() == 100'000);  // not JSON
    std::string deep = "1";
    for (int i = 0; i < 20; ++i) deep = "{\"error\":" + deep + "}";
    CHECK(read_foreign_error(deep).empty());
    CHECK(printable(read_foreign_error("<title>a\nb\x1b[31m" + std::string(1000, 'x') + "</title>"))
              .find_first_of("\n\x1b") == std::string::npos);
    std::mt19937 random(9);
    const std::string_view parts[] = {
        "{", "}",       "[",        "]",   "\"error\"",    ":",          ",", "\"x\"", "null",
        "1", "<title>", "</title>", "\\u", "\xef\xbb\xbf", "\"message\""};
    for (int round = 0; round < 20'000; ++round) {
        std::string body;
        for (auto n = random() % 12; n > 0; --n) body += parts[random() % std::size(parts)];
        CHECK(printable(read_foreign_error(body)).size() <= 403);
    }
}
