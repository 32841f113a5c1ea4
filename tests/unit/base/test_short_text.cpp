#include "k8s_sd/detail/base/short_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::detail {

TEST_CASE("ShortText: has a text of any size, and its copies and moved values have it too") {
    for (const std::size_t size : {0U, 1U, 15U, 16U, 500U}) {
        CAPTURE(size);
        const std::string expected(size, 'x');
        ShortText text{std::string_view(expected)};
        const ShortText copy = text;  // NOLINT(performance-unnecessary-copy-initialization)
        CHECK(std::string_view(copy) == expected);
        const ShortText moved = std::move(text);
        CHECK(std::string_view(moved) == expected);
        text = std::string_view("other, longer than 15 characters");
        text = std::as_const(moved);
        CHECK(std::string_view(text) == expected);
        text = {};
        CHECK(std::string_view(text).empty());
    }
    CHECK(sizeof(ShortText) == 16);
}

TEST_CASE("ShortText: can be assigned a part of itself") {
    for (const std::string_view whole : {"short", "longer than fifteen characters"}) {
        ShortText text(whole);
        text = std::string_view(text).substr(2);
        CHECK(std::string_view(text) == whole.substr(2));
    }
}

}  // namespace k8s_sd::detail
