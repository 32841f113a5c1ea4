#include "k8s_sd/detail/transport/http2/stream_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

namespace k8s_sd::detail {
namespace {

struct Numbered {
    std::int32_t id = 0;
    int value = 0;
};

}  // namespace

TEST_CASE("StreamTable: finds streams by identifier, whichever others were erased") {
    StreamTable<Numbered> table;
    CHECK(table.empty());
    CHECK(table.find(1) == nullptr);
    for (std::int32_t id = 1; id < 20; id += 2) table.add({id, 10 * id});
    for (const std::int32_t id : {7, 1, 19}) table.erase(*table.find(id));
    std::vector<std::int32_t> left;
    for (const Numbered& stream : table) left.push_back(stream.id);
    CHECK(left == std::vector<std::int32_t>{3, 5, 9, 11, 13, 15, 17});
    for (std::int32_t id = 0; id < 22; ++id) {
        CAPTURE(id);
        const bool open = id % 2 == 1 && id != 7 && id != 1 && id < 19;
        REQUIRE((table.find(id) != nullptr) == open);
        if (open) CHECK(table.find(id)->value == 10 * id);
    }
    CHECK(table.size() == 7);
    CHECK(table.back().id == 17);
    while (!table.empty()) table.erase(table.back());
    table.add({21, 0});
    CHECK(table.find(21) != nullptr);
}

}  // namespace k8s_sd::detail
