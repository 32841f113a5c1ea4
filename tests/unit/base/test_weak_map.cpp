#include "k8s_sd/detail/base/weak_map.hpp"

#include <catch2/catch_test_macros.hpp>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("WeakMap: a value that goes while another one of its key comes takes nothing away") {
    WeakMap<int, int> map;
    std::mutex making;
    std::atomic<int> wrong = 0;
    const auto work = [&] {
        for (int i = 0; i < 2000; ++i) {
            std::shared_ptr<int> value;
            {
                const std::lock_guard lock(making);
                value = map.find(i % 3);
                if (!value) value = map.add(i % 3, std::make_unique<int>(i % 3));
            }
            if (*value != i % 3 || map.find(i % 3) != value) ++wrong;
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
    threads.clear();
    CHECK(wrong == 0);
    CHECK(map.size() == 0);
}

}  // namespace k8s_sd::detail
