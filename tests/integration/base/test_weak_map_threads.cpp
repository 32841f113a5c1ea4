#include "k8s_sd/detail/base/weak_map.hpp"

#include <catch2/catch_test_macros.hpp>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace k8s_sd::detail {

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
