#include "k8s_sd/detail/text/utf8.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

using namespace k8s_sd::detail;

namespace {

std::string without_mark(std::string_view text, std::size_t chunk) {
    std::string out;
    const auto next = [&](std::string_view part) {
        out += part;
        return k8s_sd::error_code();
    };
    ByteOrderMarkFilter filter;
    filter.begin();
    for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size())))
        CHECK_FALSE(filter.feed(text.substr(0, chunk), next));
    CHECK_FALSE(filter.finish(next));
    return out;
}

}  // namespace

TEST_CASE("ByteOrderMarkFilter: one mark at the start is left out, however the text is cut") {
    struct Row {
        std::string_view text, expected;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"", ""},
             {"{}", "{}"},
             {"\xEF\xBB\xBF", ""},
             {"\xEF\xBB\xBF{}", "{}"},
             {"\xEF\xBB\xBF\xEF\xBB\xBF{}", "\xEF\xBB\xBF{}"},
             {"{\xEF\xBB\xBF}", "{\xEF\xBB\xBF}"},
             {"\xEF\xBB", "\xEF\xBB"},  // an incomplete mark is none
             {"\xEF", "\xEF"},
             {"\xEF\xBB{}", "\xEF\xBB{}"},
             {"\xEF\xEF\xBB\xBF", "\xEF\xEF\xBB\xBF"},
         }) {
        for (std::size_t chunk = 1; chunk <= row.text.size() + 1; ++chunk)
            CHECK(without_mark(row.text, chunk) == row.expected);
    }
}

TEST_CASE("ByteOrderMarkFilter: an error ends the call") {
    ByteOrderMarkFilter filter;
    int calls = 0;
    const auto refuse = [&](std::string_view) {
        ++calls;
        return make_error_code(k8s_sd::errc::malformed_response);
    };
    CHECK(filter.feed("\xEF{}", refuse) == k8s_sd::errc::malformed_response);
    CHECK(calls == 1);
}
