// A host made of coroutines: one runs the discoverer, one works with what it has found. Whichever
// ends first cancels the other.
//
//     coroutine [--diffs N] [URL]      without URL: a simulated cluster
//
// g++ 12 miscompiles some expressions with co_await: temporaries of aggregate and closure type are
// destroyed twice, and co_await in the condition of a loop crashes. So configurations and lambdas
// get names before anything is awaited, and so do results.

#include "k8s_sd/discoverer.hpp"
#include "support/arguments.hpp"
#include "support/simulated_cluster.hpp"

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
#include <map>
#include <optional>
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
        if (diff.full) groups_.clear();
        for (const auto& group : diff.removed) groups_.erase(std::string(group->source()));
        for (const auto& change : diff.updated) {
            groups_[std::string(change.group->source())] = change.group;
        }
        bell_.try_send(error_code());
    }
    /// False once the bell is closed.
    asio::awaitable<bool> changed() {
        error_code ec;
        co_await bell_.async_receive(asio::redirect_error(asio::use_awaitable, ec));
        co_return !ec;
    }
    void close() { bell_.close(); }
    std::size_t count() const { return groups_.size(); }

 private:
    std::map<std::string, k8s_sd::TargetGroupPtr> groups_;
    asio::experimental::channel<void(error_code)> bell_;
};

/// Ends only when it is cancelled.
asio::awaitable<void> discover(std::string url, Pods& pods) {
    k8s_sd::DiscoveryConfig config;
    config.role = k8s_sd::Role::pod;
    config.api_server.url = std::move(url);
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

void run(const Arguments& arguments) {
    asio::io_context io;
    std::optional<SimulatedCluster> simulation;
    std::string url = arguments.url;
    if (url.empty()) {
        simulation.emplace(io.get_executor());
        simulation->start_changes(std::chrono::milliseconds(100));
        url = simulation->url();
    }
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
        simulation.reset();
    };
    signals.async_wait([&](error_code ec, int) {
        if (!ec) end(nullptr);
    });
    asio::co_spawn(io, discover(url, pods), asio::bind_cancellation_slot(cancel.slot(), end));
    asio::co_spawn(io, consume(pods, arguments.diffs), end);
    io.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) return 2;
    try {
        run(*arguments);
    } catch (const std::exception& e) {
        std::cerr << "coroutine: " << e.what() << '\n';
        return 1;
    }
}
