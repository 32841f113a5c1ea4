// Polls over loopback, and the CPU of the process that answers them.

#include "http_client.hpp"
#include "jobs.hpp"
#include "processes.hpp"
#include "sections.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t connections = 16;
constexpr std::size_t polls = 20'000;

/// Per second: of the server's CPU, and of wall time.
struct Rate {
    double cpu, wall;
};

Rate rate_of(const ServerProcess& server, const std::vector<std::string>& targets,
             const std::vector<std::string>& headers) {
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (std::size_t i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
    }
    const double cpu = server.cpu_seconds();
    const auto begun = Clock::now();
    for (std::size_t i = 0; i < polls + connections; ++i) {
        HttpClient& client = *clients[i % connections];
        if (i >= connections) client.answer();
        if (i < polls) client.ask(targets[i % targets.size()], headers[i % headers.size()]);
    }
    const std::chrono::duration<double> wall = Clock::now() - begun;
    const auto count = static_cast<double>(polls);
    return {count / (server.cpu_seconds() - cpu), count / wall.count()};
}

void print(const char* what, const Rate& rate, const Rate& floor) {
    std::printf("  %-48s %8.0f a CPU second, %8.0f a second  x %.2f\n", what, rate.cpu, rate.wall,
                rate.cpu / floor.cpu);
    std::fflush(stdout);
}

}  // namespace

void measure_polls(const ServedPods& served) {
    const std::vector<std::string> any{"/"};
    const std::vector<std::string> no_headers{""};
    const K8sSd program(config_of(job_of_pods("pods", served.server.port)));
    HttpClient client(program.port());
    std::vector<std::string> targets;
    std::vector<std::string> tags;
    std::size_t bytes = 0;
    std::size_t compressed = 0;
    for (std::size_t shard = 0; shard < served.shards(); ++shard) {
        targets.push_back(shard_of("pods", shard, served.shards()));
        const HttpAnswer answer = client.get(targets.back());
        bytes += answer.body.size();
        tags.push_back("If-None-Match: " + answer.tag + "\r\n");
        compressed += client.get(targets.back(), "Accept-Encoding: gzip\r\n").body.size();
    }
    bytes /= targets.size();
    compressed /= targets.size();
    std::printf("  a shard has %zu bytes, %zu compressed; %zu connections\n", bytes, compressed,
                connections);
    const FixedServer tiny(16), large(bytes), small(compressed);
    const Rate floor = rate_of(tiny, any, no_headers);
    print("floor: the same server, 16 fixed bytes", floor, floor);
    const Rate floor_large = rate_of(large, any, no_headers);
    print("floor: the same server, fixed bytes of a shard", floor_large, floor);
    const Rate floor_small = rate_of(small, any, no_headers);
    print("floor: the same server, fixed compressed bytes", floor_small, floor);
    print("lists", rate_of(program, targets, no_headers), floor_large);
    print("lists, compressed", rate_of(program, targets, {"Accept-Encoding: gzip\r\n"}),
          floor_small);
    print("lists, 304", rate_of(program, targets, tags), floor);
    std::printf("  goal: 5 000\n");
}

}  // namespace bench
