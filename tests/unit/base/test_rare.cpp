#include "k8s_sd/detail/base/rare.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

namespace k8s_sd::detail {

TEST_CASE("Rare: it has a value or none, and copies have their own") {
    Rare<std::string> rare;
    CHECK_FALSE(rare);
    CHECK_FALSE(rare.has_value());
    CHECK(rare.use().empty());
    CHECK(rare);
    rare.use() += "text";
    Rare<std::string> copy = rare;
    *copy += "s";
    CHECK(*rare == "text");
    CHECK(copy->size() == 5);
    rare = copy;
    CHECK(*rare == "texts");
    const Rare<std::string> moved = std::exchange(copy, {});
    CHECK(*moved == "texts");
    CHECK_FALSE(copy);
    rare = std::string("other");
    CHECK(*rare == "other");
    CHECK(rare.emplace().empty());
    rare.reset();
    CHECK_FALSE(rare);
    copy = rare;
    CHECK_FALSE(copy);
}

}  // namespace k8s_sd::detail
