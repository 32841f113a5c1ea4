#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_source.hpp"
#include "support/config_fixtures.hpp"
#include "support/job_host.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/thread_pool.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

TargetGroupPtr group(const std::string& source, int value) {
    return TargetGroupMaker().make(source, {},
                                   {{{"__address__", source}, {"v", std::to_string(value)}}});
}

}  // namespace

TEST_CASE("TargetSource threads: many threads change it while jobs come and go") {
    asio::thread_pool pool(4);
    TemporaryDirectory directory;
    directory.write("t.json", R"([{"targets":["x"]}])");
    TargetSource source;
    std::mutex mutex;
    JobLedger ledger;  // guarded by it
    std::optional<DiscoveryManager> manager(std::in_place, pool.get_executor(),
                                            [&](const JobDiff& diff) {
                                                const std::lock_guard lock(mutex);
                                                ledger.apply(diff);
                                            });
    manager->async_run([](error_code) {});
    std::atomic<bool> end = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            const std::string mine = "group-" + std::to_string(t);
            for (int i = 0; !end; ++i) {
                source.update({group(mine, i)});
                if (i % 7 == 0) source.fail("busy");
            }
            source.update({group(mine, -1)});
        });
    }
    Job with_files{"files", {}};
    with_files.sources = {source};
    with_files.file_sd_configs.resize(1);
    with_files.file_sd_configs[0].files = {directory.path("*.json")};
    Job plain{"plain", {}};
    plain.sources = {source};
    source.set({});
    for (int i = 0; i < 100; ++i) {
        manager->apply_config(i % 3 == 0 ? std::vector<Job>{plain}
                                         : std::vector<Job>{plain, with_files});
        (void)manager->status();
        (void)manager->snapshot("plain");
        std::this_thread::sleep_for(1ms);
    }
    manager->apply_config({plain, with_files});
    end = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(wait_until([&] {
        const std::lock_guard lock(mutex);
        const auto state = ledger.state("files");
        if (state.size() != 4 || ledger.state("plain").size() != 3) return false;
        return state[1].second[0].at("v") == "-1" && state[2].second[0].at("v") == "-1" &&
               state[3].second[0].at("v") == "-1";
    }));
    {
        const std::lock_guard lock(mutex);
        CHECK(ledger.problems(*manager) == "");
    }
    manager.reset();
    source.update({group("late", 1)});
    pool.join();
}
