#include "k8s_sd/detail/discovery/due_queue.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;
using namespace std::chrono_literals;

TEST_CASE("DueQueue: the earliest is next; of one time, the one that came first") {
    detail::DueQueue<int> agenda;
    int a = 1, b = 2, c = 3;
    const TimePoint start{};
    agenda.put(start + 2s, a);
    agenda.put(start + 1s, b);
    agenda.put(start + 1s, c);
    CHECK(&agenda.next() == &b);
    CHECK(agenda.next_time() == start + 1s);
    agenda.remove(b);
    CHECK_FALSE(agenda.contains(b));
    CHECK(&agenda.next() == &c);
    agenda.remove(c);
    agenda.remove(c);  // changes nothing
    CHECK(&agenda.next() == &a);
    CHECK(agenda.contains(a));
    agenda.clear();
    CHECK(agenda.empty());
    CHECK_FALSE(agenda.contains(a));
}
