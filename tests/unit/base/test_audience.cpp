#include "k8s_sd/detail/base/audience.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

using k8s_sd::detail::Audience;
using k8s_sd::detail::AudienceTable;

TEST_CASE("Audience: has whoever was added") {
    Audience audience;
    CHECK(audience.empty());
    for (const std::size_t party : {0U, 63U, 64U, 200U}) {
        CHECK_FALSE(audience.has(party));
        audience.add(party);
        CHECK(audience.has(party));
    }
    CHECK_FALSE(audience.has(1));
    CHECK_FALSE(audience.has(10'000));
    Audience same;
    for (const std::size_t party : {200U, 0U, 64U, 63U}) same.add(party);
    CHECK(same == audience);
    CHECK(hash_value(same) == hash_value(audience));
    audience.clear();
    CHECK(audience == Audience());
}

TEST_CASE("AudienceTable: equal audiences have one number, and nobody has the number 0") {
    AudienceTable table;
    CHECK(table.id_of(Audience()) == AudienceTable::nobody);
    CHECK_FALSE(table.has(AudienceTable::nobody, 0));
    Audience some;
    some.add(3);
    const auto id = table.id_of(some);
    REQUIRE(id);
    CHECK(table.id_of(some) == id);
    CHECK(table.has(*id, 3));
    CHECK_FALSE(table.has(*id, 2));
    CHECK(table.size() == 1);
}

TEST_CASE("AudienceTable: is full at some time, and says so") {
    AudienceTable table;
    const auto audience_of = [](std::size_t number) {
        Audience audience;
        for (std::size_t bit = 0; bit < 20; ++bit) {
            if ((number >> bit & 1U) != 0) audience.add(bit);
        }
        return audience;
    };
    for (std::size_t i = 1; i <= AudienceTable::capacity; ++i) {
        if (!table.id_of(audience_of(i))) FAIL("full at " << i);
    }
    CHECK_FALSE(table.id_of(audience_of(AudienceTable::capacity + 1)));
    CHECK(table.id_of(audience_of(77)));
    std::vector<bool> used(AudienceTable::capacity + 2, true);
    const auto freed = table.id_of(audience_of(77));
    used[*freed] = false;
    table.keep_only(used);
    CHECK(table.size() == AudienceTable::capacity - 1);
    CHECK(table.id_of(audience_of(AudienceTable::capacity + 1)) == freed);
    CHECK_FALSE(table.id_of(audience_of(77)));
    CHECK(table.id_of(audience_of(78)) != freed);
    table.clear();
    CHECK(table.id_of(audience_of(AudienceTable::capacity + 1)));
}
