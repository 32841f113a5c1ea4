#include "k8s_sd/detail/base/shared_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::detail {

TEST_CASE("SharedText: copies have the same characters, and outlive the first text") {
    SharedText copy;
    CHECK(copy.empty());
    CHECK(std::string_view(copy).empty());
    {
        const SharedText text(std::string("credentials-of-") + "a-service");
        copy = text;
        CHECK(std::string_view(copy).data() == std::string_view(text).data());
    }
    CHECK(std::string_view(copy) == "credentials-of-a-service");
    const SharedText moved = std::move(copy);
    CHECK(std::string_view(moved) == "credentials-of-a-service");
    CHECK(SharedText("").empty());
    CHECK(sizeof(SharedText) == sizeof(void*));
}

}  // namespace k8s_sd::detail
