#include "k8s_sd/detail/transport/response_head_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::detail {
namespace {

/// The size of the head, detected in pieces of this size; 0: never.
std::size_t end_of_head(std::string_view text, std::size_t piece) {
    HeadEnd end;
    for (std::size_t come = piece;; come += piece) {
        const std::size_t found = end.find(text.substr(0, come));
        if (found != 0 || come >= text.size()) return found;
    }
}

TEST_CASE("HeadEnd: the empty line is found, however the head arrives") {
    struct Row {
        std::string_view head, rest;
    };
    for (const Row& row : {
             Row{"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "body\r\n\r\n"},
             Row{"HTTP/1.1 200 OK\nA: b\n\n", "body\n\n"},
             Row{"HTTP/1.1 200 OK\nA: b\n\r\n", ""},
             Row{"\r\n\r\n", "x"},
             Row{"\n\n", "\n"},
         }) {
        const std::string all = std::string(row.head) + std::string(row.rest);
        for (std::size_t piece = 1; piece <= all.size(); ++piece) {
            INFO(all << " in pieces of " << piece);
            CHECK(end_of_head(all, piece) == row.head.size());
        }
        const std::string_view cut = row.head.substr(0, row.head.size() - 1);
        for (std::size_t piece = 1; piece <= cut.size(); ++piece) {
            CHECK(end_of_head(cut, piece) == 0);
        }
    }
}

TEST_CASE("mend_head: only a head that has no CR, or no blank behind the status, is changed") {
    CHECK(mend_head("HTTP/1.1 200 OK\nA: b\n\n") == "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
    CHECK(mend_head("HTTP/1.1 200\nA: b\n\n") == "HTTP/1.1 200 \r\nA: b\r\n\r\n");
    CHECK(mend_head("HTTP/1.0 204\r\nA: b\r\n\r\n") == "HTTP/1.0 204 \r\nA: b\r\n\r\n");
    for (const std::string_view head : {
             "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
             "HTTP/1.1 200 \r\n\r\n",
             "HTTP/1.1 20\r\n\r\n",
             "HTTP/1.1 2000\r\n\r\n",
             "HTTP/2.0 200\r\n\r\n",
             "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",  // a line smuggled into a value
             "HTTP/1.1 200 OK\nA: b\r\n\n",
             "HTTP/1.1 200\nA: b\r\n\r\n",
             "HTTP/1.1 200 OK\rA: b\n\n",
         }) {
        INFO(head);
        CHECK_FALSE(mend_head(head));
    }
}

}  // namespace
}  // namespace k8s_sd::detail
