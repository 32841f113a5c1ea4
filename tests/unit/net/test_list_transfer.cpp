#include "k8s_sd/detail/net/streamed_lists.hpp"
#include "k8s_sd/detail/net/transfer_rate.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{24h};

TEST_CASE("TransferRate: a network is slow below 16 MB a second, where it was measured") {
    struct {
        std::uint64_t bytes;
        Duration waited;
        bool slow;
    } const rows[] = {
        {100'000'000, 1s, false},  // a gigabit
        {16'000'000, 1s, false},
        {15'999'999, 1s, true},
        {1'000'000, 100ms, true},
        {1'000'000, 10ms, false},
        {1'000'000, 0s, false},
        {128 * 1024, 1s, true},
        {128 * 1024 - 1, 1h, false},  // a server compresses nothing that is smaller
        {0, 1h, false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.bytes, row.waited.count());
        TransferRate rate;
        CHECK_FALSE(rate.is_slow(start));
        rate.add(row.bytes, row.waited, start);
        CHECK(rate.is_slow(start) == row.slow);
    }
}

TEST_CASE("TransferRate: the last list counts, for an hour") {
    TransferRate rate;
    rate.add(1'000'000, 1s, start);
    CHECK(rate.is_slow(start + 59min));
    CHECK_FALSE(rate.is_slow(start + 1h));
    rate.add(1'000'000, 1s, start + 2h);
    rate.add(1'000, 1s, start + 2h);
    CHECK(rate.is_slow(start + 2h));
    rate.add(1'000'000, 1ms, start + 2h);
    CHECK_FALSE(rate.is_slow(start + 2h));
}

TEST_CASE("StreamedLists: what a server cannot list with a watch is tried again a day later") {
    StreamedLists lists;
    CHECK(lists.worth_trying(Kind::pod, start));
    lists.on_failure(Kind::pod, start);
    CHECK_FALSE(lists.worth_trying(Kind::pod, start));
    CHECK(lists.worth_trying(Kind::service, start));
    CHECK_FALSE(lists.worth_trying(Kind::pod, start + 23h));
    CHECK(lists.worth_trying(Kind::pod, start + 24h));
    lists.on_failure(Kind::pod, start + 24h);
    CHECK_FALSE(lists.worth_trying(Kind::pod, start + 25h));
}

}  // namespace
}  // namespace k8s_sd::detail
