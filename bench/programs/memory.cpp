// Memory of ten jobs over the same pods, beside a DiscoveryManager with ten jobs and no targets of
// its own.

#include "jobs.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "measure.hpp"
#include "processes.hpp"
#include "sections.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <set>
#include <string>

namespace bench {

namespace {

constexpr std::size_t jobs = 10;

/// The discovery alone.
double memory_of_manager(const std::string& config) {
    boost::asio::io_context io(1);
    std::set<std::string> complete;
    k8s_sd::DiscoveryManager manager(io.get_executor(), [&](const k8s_sd::JobDiff& diff) {
        complete.insert(diff.job);
        if (complete.size() == jobs) io.stop();
    });
    manager.async_run(boost::asio::detached);
    manager.apply_config(k8s_sd::parse_scrape_configs(config, {}, "bench").discovery_jobs());
    io.run();
    io.restart();
    io.poll();  // handlers of the previous iteration
    return memory_mb("VmRSS");
}

std::string parts(unsigned short port) {
    std::string text;
    for (std::size_t part = 0; part < jobs; ++part) text += job_of_a_part(part, jobs, port);
    return config_of(text);
}

std::string wholes(unsigned short port) {
    std::string text;
    for (std::size_t i = 0; i < jobs; ++i) text += job_of_pods("part-" + std::to_string(i), port);
    return config_of(text);
}

/// \param shards  of each job's list
void measure(const ServedPods& served, const std::string& config, std::size_t shards,
             double floor) {
    const auto per_pod = [&](double mb) {
        return mb * 1024 * 1024 / static_cast<double>(served.pods);
    };
    const K8sSd program(config);
    const double synced = program.memory_mb();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < jobs; ++i) {
        bytes += program.ask_for_shards("part-" + std::to_string(i), shards);
    }
    const double listed = program.memory_mb();
    print("no list in use", synced, "MB", floor);
    print("a pod", per_pod(synced), "bytes");
    print("all relabelled lists in use, in shards", listed, "MB", floor);
    print("of this bodies", static_cast<double>(bytes) / 1024 / 1024, "MB");
    print("peak", program.memory_mb("VmHWM"), "MB", floor);
}

}  // namespace

void measure_memory(const ServedPods& served) {
    const unsigned short port = served.server.port;
    const double floor = in_process([&] { return memory_of_manager(parts(port)); });
    print("floor: a DiscoveryManager with these ten jobs", floor, "MB");
    std::printf(" ten jobs keep a tenth of the targets each:\n");
    measure(served, parts(port), served.shards() / jobs + 1, floor);
    std::printf(" ten jobs keep all targets each:\n");
    measure(served, wholes(port), served.shards(), floor);
}

}  // namespace bench
