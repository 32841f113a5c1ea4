#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// With one shared strand, the quick discoverer would receive its diff only after the end of the
// slow callback.
TEST_CASE("Discoverer: a callback that blocks on a strand of the host stalls no other discoverer") {
    asio::thread_pool threads(3);
    std::optional<sim::ApiServer> server(std::in_place, threads.get_executor());
    server->listen();
    server->apply(pod({.name = "a"}));
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = server->url();

    std::promise<void> blocked;
    std::promise<void> other_received;
    std::promise<bool> received_meanwhile;
    const auto received = other_received.get_future().share();
    Discoverer slow(asio::make_strand(threads.get_executor()), config,
                    [&, first = true](const TargetGroupDiff&) mutable {
                        if (!std::exchange(first, false)) return;
                        blocked.set_value();
                        received_meanwhile.set_value(received.wait_for(30s) ==
                                                     std::future_status::ready);
                    });
    slow.async_run(asio::detached);
    blocked.get_future().wait();

    Discoverer quick(threads.get_executor(), config,
                     [&, diffs = 0](const TargetGroupDiff&) mutable {
                         if (++diffs == 1) server->apply(pod({.name = "b"}));
                         if (diffs == 2) other_received.set_value();
                     });
    quick.async_run(asio::detached);
    CHECK(received_meanwhile.get_future().get());
    slow.cancel();
    quick.cancel();
    server.reset();
    threads.join();
}
