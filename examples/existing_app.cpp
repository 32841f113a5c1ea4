// An application with an io_context, threads, periodic work and signal handling of its own.
// Discovery is added to it: on an executor chosen by the host, with callbacks, and it ends when the
// host shuts down.
//
//     existing_app [OPTION]... [URL]      without a server: a simulated cluster

#include "cli/cluster.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/small_example.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Application {
 public:
    Application(asio::io_context& io, cli::Cluster& cluster, unsigned diffs)
        : strand_(asio::make_strand(io)),
          signals_(strand_, SIGINT, SIGTERM),
          work_timer_(strand_),
          metrics_(k8s_sd::metrics_of(io)),
          cluster_(cluster),
          diffs_left_(diffs),
          // Callbacks run on the strand that protects our state: no lock is needed.
          discoverer_(strand_, cluster.config(k8s_sd::Role::endpointslice),
                      [this](const auto& diff) { on_targets(diff); }) {}

    void start() {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) shut_down();
        });
        work();
        discoverer_.async_run([](k8s_sd::error_code ec) {
            std::cout << "discovery ended: " << ec.message() << std::endl;
        });
    }

 private:
    // The application's own periodic work; it also reports the status of discovery.
    void work() {
        const k8s_sd::DiscovererStatus status = discoverer_.status();
        if (status.error) {
            // The targets stay as they are: an old state is better than none.
            std::cout << "discovery has trouble: " << status.message << std::endl;
        }
        work_timer_.expires_after(250ms);
        work_timer_.async_wait([this](boost::system::error_code) {
            // An error code would not suffice: an expired timer can no longer be cancelled.
            if (!stopping_) work();
        });
    }

    void on_targets(const k8s_sd::TargetGroupDiff& diff) {
        groups_.apply(diff);
        // A slow callback delays only itself: meanwhile changes are coalesced, one entry for each
        // group, and the next call delivers them together.
        std::this_thread::sleep_for(20ms);
        std::cout << diff.updated.size() << " groups added or changed, " << diff.removed.size()
                  << " removed; " << groups_.group_count() << " groups, " << groups_.target_count()
                  << " targets" << std::endl;
        if (diffs_left_ > 0 && --diffs_left_ == 0) shut_down();
    }

    // Ends all pending operations, so io_context::run() returns by itself, without stop().
    void shut_down() {
        if (std::exchange(stopping_, true)) return;
        signals_.cancel();
        work_timer_.cancel();
        discoverer_.cancel();
        cluster_.stop();
        std::cout.precision(15);
        metrics_->visit([](auto name, auto resource, auto value) {
            if (value == 0) return;
            std::cout << name;
            if (!resource.empty()) std::cout << "{resource=\"" << resource << "\"}";
            std::cout << ' ' << value << '\n';
        });
    }

    asio::strand<asio::io_context::executor_type> strand_;
    asio::signal_set signals_;
    asio::steady_timer work_timer_;
    std::shared_ptr<k8s_sd::Metrics> metrics_;
    cli::Cluster& cluster_;
    unsigned diffs_left_;
    bool stopping_ = false;
    k8s_sd::TargetGroups groups_;
    k8s_sd::Discoverer discoverer_;
};

void run(const support::Arguments& arguments) {
    asio::io_context io;
    cli::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(100ms);
    Application application(io, cluster, arguments.diffs);
    application.start();
    std::thread threads[3];
    for (std::thread& thread : threads) thread = std::thread([&] { io.run(); });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("existing_app", "Adds discovery to an app.", argc, argv, run);
}
