#include "k8s_sd/detail/discovery/due_queue.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <new>

using namespace k8s_sd;
using namespace std::chrono_literals;

TEST_CASE("DueQueue: the earliest is next; of one time, the one that came first") {
    detail::DueQueue<int> queue;
    int a = 1, b = 2, c = 3;
    const TimePoint start{};
    queue.put(start + 2s, a);
    queue.put(start + 1s, b);
    queue.put(start + 1s, c);
    CHECK(&queue.next() == &b);
    CHECK(queue.next_time() == start + 1s);
    queue.remove(b);
    CHECK_FALSE(queue.contains(b));
    CHECK(&queue.next() == &c);
    queue.remove(c);
    queue.remove(c);  // changes nothing
    CHECK(&queue.next() == &a);
    CHECK(queue.contains(a));
    queue.clear();
    CHECK(queue.empty());
    CHECK_FALSE(queue.contains(a));
}

TEST_CASE("DueQueue: the next item is postponed") {
    detail::DueQueue<int> queue;
    int a = 1, b = 2;
    const TimePoint start{};
    queue.put(start + 1s, a);
    queue.put(start + 2s, b);
    queue.postpone_next(start + 3s);
    CHECK(&queue.next() == &b);
    queue.remove(b);
    CHECK(&queue.next() == &a);
    CHECK(queue.next_time() == start + 3s);
    queue.remove(a);
    CHECK(queue.empty());
}

TEST_CASE("DueQueue: without memory an item is not in the queue, nor half of it") {
    for (const long allocations : {0L, 1L}) {
        detail::DueQueue<int> queue;
        int a = 1;
        test::allocations_left = allocations;
        CHECK_THROWS_AS(queue.put(TimePoint(), a), std::bad_alloc);
        test::allocations_left = -1;
        CHECK(queue.empty());
        CHECK_FALSE(queue.contains(a));
    }
}
