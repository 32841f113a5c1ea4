// An application that had its io_context, its threads, its periodic work and its signal handling
// before it discovered anything. Discovery moves in as a guest: on an executor of the host's
// choice, with callbacks, and it leaves when the host shuts down.
//
//     existing_app [--diffs N] [URL]      without URL: a simulated cluster

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "support/arguments.hpp"
#include "support/simulated_cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Application {
 public:
    /// \param on_shut_down  called once this application has let go of everything
    Application(asio::io_context& io, const std::string& url, unsigned diffs,
                std::function<void()> on_shut_down)
        : strand_(asio::make_strand(io)),
          signals_(strand_, SIGINT, SIGTERM),
          work_timer_(strand_),
          metrics_(k8s_sd::metrics_of(io)),
          diffs_left_(diffs),
          on_shut_down_(std::move(on_shut_down)) {
        k8s_sd::DiscoveryConfig config;
        config.role = k8s_sd::Role::endpointslice;
        config.api_server.url = url;
        // Callbacks come on the strand that protects our state: no lock is needed.
        discoverer_.emplace(strand_, config,
                            [this](const k8s_sd::TargetGroupDiff& diff) { on_targets(diff); });
    }

    void start() {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) shut_down();
        });
        work();
        discoverer_->async_run([](k8s_sd::error_code ec) {
            std::cout << "discovery ended: " << ec.message() << std::endl;
        });
    }

 private:
    // What the application did all along; it also reports how discovery is doing.
    void work() {
        const k8s_sd::DiscovererStatus status = discoverer_->status();
        if (status.error) {
            // The targets stay as they are: an old state is better than none.
            std::cout << "discovery has trouble: " << status.message << std::endl;
        }
        work_timer_.expires_after(250ms);
        work_timer_.async_wait([this](boost::system::error_code) {
            // An error code would not do: a timer that has expired can no longer be cancelled.
            if (!stopping_) work();
        });
    }

    void on_targets(const k8s_sd::TargetGroupDiff& diff) {
        if (diff.full) targets_.clear();
        for (const auto& group : diff.removed) targets_.erase(std::string(group->source()));
        for (const auto& change : diff.updated) {
            targets_[std::string(change.group->source())] = change.group;
        }
        // A slow callback delays only itself: meanwhile changes are merged, one entry a group, and
        // come together in the next call.
        std::this_thread::sleep_for(20ms);
        std::cout << diff.updated.size() << " groups changed, " << diff.removed.size() << " went, "
                  << targets_.size() << " are there" << std::endl;
        if (diffs_left_ > 0 && --diffs_left_ == 0) shut_down();
    }

    // Everything that is outstanding ends, so that io_context::run() returns by itself; no stop().
    void shut_down() {
        if (stopping_) return;
        stopping_ = true;
        signals_.cancel();
        work_timer_.cancel();
        discoverer_->cancel();
        metrics_->visit([](std::string_view name, std::string_view resource, std::int64_t value) {
            if (value == 0) return;
            std::cout << name;
            if (!resource.empty()) std::cout << "{resource=\"" << resource << "\"}";
            std::cout << ' ' << value << '\n';
        });
        on_shut_down_();
    }

    asio::strand<asio::io_context::executor_type> strand_;
    asio::signal_set signals_;
    asio::steady_timer work_timer_;
    std::shared_ptr<k8s_sd::Metrics> metrics_;
    unsigned diffs_left_;
    bool stopping_ = false;
    std::map<std::string, k8s_sd::TargetGroupPtr> targets_;
    std::function<void()> on_shut_down_;
    std::optional<k8s_sd::Discoverer> discoverer_;
};

void run(const Arguments& arguments) {
    asio::io_context io;
    std::optional<SimulatedCluster> simulation;
    std::string url = arguments.url;
    if (url.empty()) {
        simulation.emplace(io.get_executor());
        simulation->start_changes(100ms);
        url = simulation->url();
    }
    Application application(io, url, arguments.diffs, [&] { simulation.reset(); });
    application.start();

    std::array<std::thread, 3> threads;
    for (std::thread& thread : threads) thread = std::thread([&] { io.run(); });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) return 2;
    try {
        run(*arguments);
    } catch (const std::exception& e) {
        std::cerr << "existing_app: " << e.what() << '\n';
        return 1;
    }
}
