#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;

namespace {

/// A source that reports from threads of its own.
class LoudSource final : public MemberSource {
 public:
    ~LoudSource() override { LoudSource::stop(); }
    void start(Callback callback) override {
        thread_ = std::jthread([this, callback = std::move(callback)] {
            for (unsigned i = 0; !stopped_; ++i) {
                FleetSighting sighting;
                sighting.in_sight = i % 7 != 0;
                sighting.members = {{"a", MemberState::active}};
                if (i % 2 == 0) sighting.members.push_back({"b", MemberState::active});
                if (i % 3 == 0) sighting.members.push_back({"c", MemberState::leaving});
                callback(sighting);
                std::this_thread::yield();
            }
        });
    }
    void stop() noexcept override {
        stopped_ = true;
        if (thread_.joinable()) thread_.join();
    }
    void announce(MemberState) override { ++announced_; }

 private:
    std::atomic<bool> stopped_ = false;
    std::atomic<int> announced_ = 0;
    std::jthread thread_;
};

}  // namespace

TEST_CASE("Membership: threads that look, say that they are ready, and cancel do not disturb it",
          "[threads]") {
    const test::TemporaryDirectory parent;
    for (int round = 0; round < 20; ++round) {
        boost::asio::io_context context(4);
        Environment environment;
        environment.logger.level = LogLevel::off;
        install(context, environment);
        auto work = boost::asio::make_work_guard(context);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back([&] { context.run(); });
        std::atomic<int> received = 0;
        FleetRules rules;
        rules.debounce = Duration{};
        std::optional<Membership> membership;
        membership.emplace(context.get_executor(),
                           MembershipConfig{.source = std::make_shared<LoudSource>(),
                                            .self = "a",
                                            .rules = rules,
                                            .snapshot_directory = parent.path("views")},
                           [&](const FleetShare& share) {
                               ++received;
                               static_cast<void>(share.owns(1));
                           });
        membership->async_run(boost::asio::detached);
        {
            std::vector<std::jthread> hosts;
            for (int i = 0; i < 3; ++i) {
                hosts.emplace_back([&, i] {
                    for (int n = 0; n < 50 || received == 0; ++n) {
                        static_cast<void>(membership->status());
                        static_cast<void>(membership->share().owns(7));
                        membership->set_synced(n % 2 == i % 2);
                        static_cast<void>(membership->ready());
                    }
                    if (i == 0) membership->leave();
                    membership->cancel();
                });
            }
        }
        membership.reset();
        work.reset();
        threads.clear();
        CHECK(received > 0);
    }
}
