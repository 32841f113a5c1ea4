// CPU of one changed pod, whose three targets are in three shards, beside serialising all targets
// again.

#include "http_client.hpp"
#include "jobs.hpp"
#include "processes.hpp"
#include "sections.hpp"

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t changes = 2'000;

/// Milliseconds of the program's CPU.
double cpu_of(const K8sSd& program, const std::function<void()>& work) {
    std::this_thread::sleep_for(milliseconds(200));
    const double before = program.cpu_seconds();
    work();
    std::this_thread::sleep_for(milliseconds(200));
    return (program.cpu_seconds() - before) * 1e3;
}

/// One at a time, as changes arrive from a cluster.
double cpu_of_a_change(const ServedPods& served, const K8sSd& program) {
    const double cpu = cpu_of(program, [&] {
        for (std::size_t i = 0; i < changes; ++i) {
            if (::write(served.server.input, "x", 1) != 1) {
                throw std::runtime_error("the server is gone");
            }
            std::this_thread::sleep_for(milliseconds(1));
        }
    });
    return cpu / static_cast<double>(changes);
}

/// HEAD excludes the cost of sending the lists.
double cpu_of_shards(const ServedPods& served, const K8sSd& program) {
    return cpu_of(program, [&] {
        HttpClient client(program.port());
        for (std::size_t shard = 0; shard < served.shards(); ++shard) {
            client.head(shard_of("pods", shard, served.shards()));
        }
    });
}

}  // namespace

void measure_changes(const ServedPods& served) {
    const K8sSd program(config_of(job_of_pods("pods", served.server.port)));
    const double no_list = cpu_of_a_change(served, program);
    const double everything = cpu_of_shards(served, program);
    const double change = cpu_of_a_change(served, program);
    const double joined = cpu_of_shards(served, program);
    const double unchanged = cpu_of_shards(served, program);
    print("floor: a changed pod, no list in use", no_list, "ms CPU");
    print("a changed pod, all shards in use", change, "ms CPU", no_list);
    print("a changed shard, when it is asked for",
          (joined - unchanged) / static_cast<double>(served.shards()), "ms CPU");
    print("instead: serialise all targets, join all shards", everything, "ms CPU", change);
    std::printf("  goal: 0.2 ms\n");
}

}  // namespace bench
