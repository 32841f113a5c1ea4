#include "k8s_sd/detail/base/rare.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <new>
#include <string>
#include <type_traits>
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

TEST_CASE("Rare: a copy without memory throws, also in a class with such a member") {
    struct Fields {
        Rare<int> number;
        RareText text;
    };
    static_assert(!std::is_nothrow_copy_assignable_v<Fields>);
    static_assert(std::is_nothrow_move_assignable_v<Fields>);
    Fields fields, copy;
    fields.number = 7;
    fields.text = "text";
    test::allocations_left = 0;
    CHECK_THROWS_AS(copy = fields, std::bad_alloc);
    test::allocations_left = -1;
    copy = fields;
    CHECK(*copy.number == 7);
    CHECK(copy.text == "text");
}

}  // namespace k8s_sd::detail
