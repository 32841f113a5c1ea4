#include "k8s_sd/detail/base/weak_map.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::detail {

TEST_CASE("WeakMap: an entry goes with its value, and nothing of its key stays") {
    WeakMap<std::string, int> map;
    CHECK(map.find("a") == nullptr);
    auto a = map.add("a", std::make_unique<int>(1));
    auto b = map.add("b", std::make_unique<int>(2));
    CHECK(map.find("a") == a);
    CHECK(map.size() == 2);
    auto again = a;
    a.reset();
    CHECK(map.size() == 2);
    again.reset();
    CHECK(map.size() == 1);
    CHECK(map.find("a") == nullptr);
    CHECK(map.find("b") == b);
}

TEST_CASE("WeakMap: a value is disposed of as its owner says, also after the map") {
    std::optional<WeakMap<std::string, int>> map(std::in_place);
    int disposed = 0;
    const auto dispose = [&](int* last) {
        disposed += *last;
        delete last;
    };
    auto one = map->add("one", std::make_unique<int>(1), dispose);
    auto two = map->add("two", std::make_unique<int>(2), dispose);
    one.reset();
    CHECK(disposed == 1);
    map.reset();
    two.reset();
    CHECK(disposed == 3);
}

}  // namespace k8s_sd::detail
