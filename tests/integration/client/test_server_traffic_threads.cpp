#include "k8s_sd/detail/client/server_traffic.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace k8s_sd::detail {

TEST_CASE("Server traffic: permits stay within the limit on many threads") {
    asio::io_context context;
    const auto metrics = std::make_shared<Metrics>();
    const auto traffic = std::make_shared<ServerTraffic>(ServerLimits{3, 0}, metrics);
    std::atomic<int> running = 0, most = 0, served = 0;
    struct Worker {
        asio::strand<asio::any_io_executor> strand;
        PermitQueue::RequestHandle handle;
        int rounds = 0;
    };
    std::vector<std::unique_ptr<Worker>> workers;
    std::function<void(Worker&)> next = [&](Worker& w) {
        w.handle = traffic->list_permits->async_permit(w.strand, [&](PermitQueue::Permit) {
            const int now = ++running;
            for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
            }
            ++served;
            --running;
            if (++w.rounds % 3 == 0) next(w);  // the next assignment withdraws this request
            if (w.rounds < 200) next(w);
        });
    };
    for (int i = 0; i < 16; ++i) {
        workers.push_back(std::make_unique<Worker>(asio::make_strand(context.get_executor())));
        asio::post(workers.back()->strand, [&next, &w = *workers.back()] { next(w); });
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run(); });
    threads.clear();
    CHECK(most <= 3);
    CHECK(served == 16 * 200);
    workers.clear();
    CHECK(metrics->lists_running == 0);
    CHECK(metrics->lists_waiting == 0);
}

}  // namespace k8s_sd::detail
