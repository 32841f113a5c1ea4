// A host as a coroutine that reads the diffs of a discoverer.
//
//     coroutine [OPTION]... [URL]      without a server: a simulated cluster
//
// g++ 12 miscompiles some expressions with co_await: temporaries of aggregate and closure type are
// destroyed twice, and co_await in the condition of a loop crashes. So configurations, lambdas and
// results are named variables.

#include "cli/cluster.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/small_example.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// However slow the coroutine, unread changes take no more memory than the latest state.
asio::awaitable<void> count_pods(k8s_sd::DiscoveryConfig config, unsigned changes) {
    const auto executor = co_await asio::this_coro::executor;
    k8s_sd::Discoverer discoverer(executor, config);
    k8s_sd::TargetGroups pods;
    while (true) {
        error_code ec;
        const k8s_sd::TargetGroupDiff diff =
            co_await discoverer.async_next(asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            std::cout << "discovery ended: " << ec.message() << std::endl;
            co_return;
        }
        pods.apply(diff);
        std::cout << pods.group_count() << " pods" << std::endl;
        if (changes > 0 && --changes == 0) co_return;
    }
}

void run(const support::Arguments& arguments) {
    asio::io_context io;
    cli::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(std::chrono::milliseconds(100));
    asio::cancellation_signal cancel;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](error_code ec, int) {
        if (!ec) cancel.emit(asio::cancellation_type::terminal);
    });
    std::exception_ptr failure;
    const auto end = [&](std::exception_ptr error) {
        failure = error;
        signals.cancel();
        cluster.stop();
    };
    asio::co_spawn(io, count_pods(cluster.config(k8s_sd::Role::pod), arguments.diffs),
                   asio::bind_cancellation_slot(cancel.slot(), end));
    io.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("coroutine", "Counts pods, in coroutines.", argc, argv, run);
}
