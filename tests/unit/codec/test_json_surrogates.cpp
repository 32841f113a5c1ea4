#include "k8s_sd/detail/text/json_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>
#include <vector>

using namespace k8s_sd::detail;

namespace {

std::string filtered(const std::vector<std::string_view>& chunks) {
    std::string out;
    const auto next = [&](std::string_view text) {
        out += text;
        return k8s_sd::error_code();
    };
    SurrogateFilter filter;
    for (const std::string_view chunk : chunks) CHECK_FALSE(filter.feed(chunk, next));
    CHECK_FALSE(filter.finish(next));
    return out;
}

}  // namespace

TEST_CASE("SurrogateFilter: half a surrogate pair is replaced, however the text is cut") {
    struct Row {
        std::string_view text, expected;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"", ""},
             {R"({"a":"b\n\"\\"})", R"({"a":"b\n\"\\"})"},
             {R"(\uD83D\uDE00)", R"(\uD83D\uDE00)"},
             {R"(\ud83d\ude00)", R"(\ud83d\ude00)"},
             {R"(\uD83D)", R"(\uD83D)"},  // the text ends within the pair
             {R"(\uD83D")", R"(\uFFFD")"},
             {R"(\uDE00")", R"(\uFFFD")"},
             {R"(\uD83D\n)", R"(\uFFFD\n)"},
             {R"(\uD83D\u0041)", R"(\uFFFD\u0041)"},
             {R"(\uD83D\uD83D\uDE00\uDE00")", R"(\uFFFD\uD83D\uDE00\uFFFD")"},
             {R"(\uD83D\\uDE00")", R"(\uFFFD\\uDE00")"},
             {R"(\\uD83D\\\uD83D\\")", R"(\\uD83D\\\uFFFD\\")"},
             {R"(\uD83D\uDEX0")", R"(\uFFFD\uDEX0")"},
             {R"(\uD8X0\uZ")", R"(\uD8X0\uZ")"},
             {R"(\u00e9\uD7FF\uE000)", R"(\u00e9\uD7FF\uE000)"},
             {R"(\)", R"(\)"}}) {
        CAPTURE(row.text);
        CHECK(filtered({row.text}) == row.expected);
        for (std::size_t a = 0; a <= row.text.size(); ++a) {
            for (std::size_t b = a; b <= row.text.size(); ++b) {
                const std::string out = filtered(
                    {row.text.substr(0, a), row.text.substr(a, b - a), row.text.substr(b)});
                if (out != row.expected) FAIL("split at " << a << " and " << b << ": " << out);
            }
        }
    }
}

TEST_CASE("SurrogateFilter: an error of what comes behind it ends the call") {
    SurrogateFilter filter;
    int calls = 0;
    const auto refuse = [&](std::string_view) {
        ++calls;
        return k8s_sd::error_code(k8s_sd::errc::malformed_response);
    };
    CHECK(filter.feed(R"(a\uD800"b\uD800"c)", refuse));
    CHECK(calls == 1);
    CHECK_FALSE(filter.feed("\\", [](std::string_view) { return k8s_sd::error_code(); }));
    CHECK(filter.feed("nnn", refuse));
    CHECK(calls == 2);
}
