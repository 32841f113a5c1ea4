#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

using k8s_sd::detail::ViewSet;
using k8s_sd::detail::ViewSetTable;

TEST_CASE("ViewSet: contains the numbers added") {
    ViewSet set;
    CHECK(set.empty());
    for (const std::size_t number : {0U, 63U, 64U, 200U}) {
        CHECK_FALSE(set.has(number));
        set.add(number);
        CHECK(set.has(number));
    }
    CHECK_FALSE(set.has(1));
    CHECK_FALSE(set.has(10'000));
    ViewSet same;
    for (const std::size_t number : {200U, 0U, 64U, 63U}) same.add(number);
    CHECK(same == set);
    CHECK(hash_value(same) == hash_value(set));
    set.clear();
    CHECK(set == ViewSet());
}

TEST_CASE("ViewSet: visits its numbers in ascending order, and adds those of another set") {
    const auto numbers_of = [](const ViewSet& set) {
        std::vector<std::size_t> numbers;
        set.for_each([&](std::size_t number) { numbers.push_back(number); });
        return numbers;
    };
    ViewSet set, other;
    CHECK(numbers_of(set).empty());
    for (const std::size_t number : {200U, 0U, 64U, 63U}) set.add(number);
    for (const std::size_t number : {63U, 5U}) other.add(number);
    CHECK(numbers_of(set) == std::vector<std::size_t>{0, 63, 64, 200});
    set.add(other);
    other.add(set);
    CHECK(numbers_of(set) == std::vector<std::size_t>{0, 5, 63, 64, 200});
    CHECK(other == set);
}

TEST_CASE("ViewSetTable: equal sets have one number, and the empty set has the number 0") {
    ViewSetTable table;
    CHECK(table.id_of(ViewSet()) == ViewSetTable::none);
    CHECK_FALSE(table.has(ViewSetTable::none, 0));
    ViewSet some;
    some.add(3);
    const auto id = table.id_of(some);
    REQUIRE(id);
    CHECK(table.id_of(some) == id);
    CHECK(table.has(*id, 3));
    CHECK_FALSE(table.has(*id, 2));
    CHECK(table.size() == 1);
}

TEST_CASE("ViewSetTable: reports that all numbers are in use") {
    ViewSetTable table;
    const auto set_of = [](std::size_t number) {
        ViewSet set;
        for (std::size_t bit = 0; bit < 20; ++bit) {
            if ((number >> bit & 1U) != 0) set.add(bit);
        }
        return set;
    };
    for (std::size_t i = 1; i <= ViewSetTable::capacity; ++i) {
        if (!table.id_of(set_of(i))) FAIL("full at " << i);
    }
    CHECK_FALSE(table.id_of(set_of(ViewSetTable::capacity + 1)));
    CHECK(table.id_of(set_of(77)));
    std::vector<bool> used(ViewSetTable::capacity + 2, true);
    const auto freed = table.id_of(set_of(77));
    used[*freed] = false;
    table.keep_only(used);
    CHECK(table.size() == ViewSetTable::capacity - 1);
    CHECK(table.id_of(set_of(ViewSetTable::capacity + 1)) == freed);
    CHECK_FALSE(table.id_of(set_of(77)));
    CHECK(table.id_of(set_of(78)) != freed);
    table.clear();
    CHECK(table.id_of(set_of(ViewSetTable::capacity + 1)));
}
