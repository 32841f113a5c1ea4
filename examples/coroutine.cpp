// A host made of coroutines: one runs the discoverer, one works with what it has found. Whichever
// ends first cancels the other.
//
//     coroutine [OPTION]... [URL]      without a server: a simulated cluster
//
// g++ 12 miscompiles some expressions with co_await: temporaries of aggregate and closure type are
// destroyed twice, and co_await in the condition of a loop crashes. So configurations and lambdas
// get names before anything is awaited, and so do results.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/cluster.hpp"
#include "support/small_example.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// What is known, and a bell that rings when it has changed. The bell holds one ring: however slow
/// the consumer is, it costs no more memory than the newest state.
class Pods {
 public:
    explicit Pods(asio::io_context& io) : bell_(io, 1) {}

    void apply(const k8s_sd::TargetGroupDiff& diff) {
        groups_.apply(diff);
        bell_.try_send(error_code());
    }
    /// False once the bell is closed.
    asio::awaitable<bool> changed() {
        error_code ec;
        co_await bell_.async_receive(asio::redirect_error(asio::use_awaitable, ec));
        co_return !ec;
    }
    void close() { bell_.close(); }
    std::size_t count() const { return groups_.group_count(); }

 private:
    k8s_sd::TargetGroups groups_;
    asio::experimental::channel<void(error_code)> bell_;
};

/// Ends only when it is cancelled.
asio::awaitable<void> discover(k8s_sd::DiscoveryConfig config, Pods& pods) {
    const auto executor = co_await asio::this_coro::executor;
    k8s_sd::Discoverer discoverer(executor, config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) { pods.apply(diff); });
    error_code ec;
    co_await discoverer.async_run(asio::redirect_error(asio::use_awaitable, ec));
    std::cout << "discovery ended: " << ec.message() << std::endl;
}

asio::awaitable<void> consume(Pods& pods, unsigned changes) {
    while (true) {
        const bool open = co_await pods.changed();
        if (!open) co_return;
        std::cout << pods.count() << " pods" << std::endl;
        if (changes > 0 && --changes == 0) co_return;
    }
}

void run(const support::Arguments& arguments) {
    asio::io_context io;
    support::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(std::chrono::milliseconds(100));
    Pods pods(io);
    asio::cancellation_signal cancel;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    std::exception_ptr failure;
    // What each of them does when it ends: end the others.
    const auto end = [&](std::exception_ptr error) {
        if (error && !failure) failure = error;
        signals.cancel();
        pods.close();
        cancel.emit(asio::cancellation_type::terminal);
        cluster.stop();
    };
    signals.async_wait([&](error_code ec, int) {
        if (!ec) end(nullptr);
    });
    asio::co_spawn(io, discover(cluster.config(k8s_sd::Role::pod), pods),
                   asio::bind_cancellation_slot(cancel.slot(), end));
    asio::co_spawn(io, consume(pods, arguments.diffs), end);
    io.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("coroutine", "Counts pods, in coroutines.", argc, argv, run);
}
