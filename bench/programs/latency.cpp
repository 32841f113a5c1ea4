// The time from a change at the API server until the list served over HTTP contains it.

#include "http_client.hpp"
#include "jobs.hpp"
#include "k8s_sd/discoverer.hpp"
#include "measure.hpp"
#include "processes.hpp"
#include "sections.hpp"

#include <boost/asio/io_context.hpp>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t rounds = 100;
constexpr double goal_ms = 5;

/// The 50th and the 99th percentile, in milliseconds.
using Percentiles = std::array<double, 2>;

Percentiles percentiles(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

double ms_since(Clock::time_point begun) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

void change_a_pod(const ServedPods& served) {
    if (::write(served.server.input, "x", 1) != 1) throw std::runtime_error("the server is gone");
}

/// Until a host's callback receives the change: the lower bound for any list.
Percentiles until_diff(const ServedPods& served) {
    boost::asio::io_context context(1);
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(served.server.port);
    std::size_t diffs = 0;
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff&) { ++diffs; });
    discoverer.async_run([](k8s_sd::error_code) {});
    std::vector<double> times;
    while (diffs == 0) context.run_one();
    // A watch that has just begun waits for the first change as for any other.
    context.run_for(milliseconds(500));
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t before = diffs;
        const auto begun = Clock::now();
        change_a_pod(served);
        while (diffs == before) context.run_one();
        times.push_back(ms_since(begun));
    }
    return percentiles(std::move(times));
}

/// A reader of the list of the first namespace, whose pods change first.
class Reader {
 public:
    Reader(const ServedPods& served, unsigned short port) : served_(served), client_(port) {
        tag_ = client_.get(list).tag;
    }

    /// Requests again and again, from the change on.
    double poll() {
        const auto begun = Clock::now();
        change_a_pod(served_);
        while (!has_news(client_.get(list, known()))) {
        }
        return heard(begun);
    }
    /// Sends the request before the change and waits for it.
    double long_poll() {
        client_.ask(list, known() + "Prefer: wait=30\r\n");
        std::this_thread::sleep_for(milliseconds(5));  // the request has arrived
        const auto begun = Clock::now();
        change_a_pod(served_);
        while (!has_news(client_.answer())) {
            client_.ask(list, known() + "Prefer: wait=30\r\n");
        }
        return heard(begun);
    }

 private:
    static constexpr const char* list = "/sd/first/targets";

    std::string known() const { return "If-None-Match: " + tag_ + "\r\n"; }
    bool has_news(HttpAnswer answer) {
        if (answer.status != 200) return false;
        tag_ = answer.tag;
        body_ = std::move(answer.body);
        return true;
    }
    double heard(Clock::time_point begun) {
        const double time = ms_since(begun);
        std::array<char, 32> label{};
        std::snprintf(label.data(), label.size(), "\"rev\":\"%09zu\"", ++changes_);
        if (body_.find(label.data()) == body_.npos) {
            throw std::runtime_error("the list lacks the change");
        }
        return time;
    }

    const ServedPods& served_;
    HttpClient client_;
    std::string tag_, body_;
    std::size_t changes_ = 0;
};

Percentiles measured(milliseconds between, const std::function<double()>& round) {
    std::vector<double> times;
    for (std::size_t i = 0; i < rounds; ++i) {
        std::this_thread::sleep_for(between);
        times.push_back(round());
    }
    return percentiles(std::move(times));
}

void print(const std::string& what, const Percentiles& times, const Percentiles& floor) {
    bench::print((what + ", p50").c_str(), times[0], "ms", floor[0]);
    bench::print((what + ", p99").c_str(), times[1], "ms", floor[1]);
}

}  // namespace

void measure_latency(const ServedPods& served) {
    const Percentiles floor = in_process([&] { return until_diff(served); });
    const unsigned short port = served.server.port;
    const K8sSd program(
        config_of(job_of_pods("pods", port) +
                  job_of_pods("first", port,
                              "  - {source_labels: [__meta_kubernetes_namespace], regex: ns-000, "
                              "action: keep}\n")));
    program.ask_for_shards("pods", served.shards());
    Reader reader(served, program.port());
    print("floor: the callback of a Discoverer", floor, {});
    print("poll after poll, the list of 1 500 targets",
          measured(milliseconds(10), [&] { return reader.poll(); }), floor);
    print("long poll, nothing else changes",
          measured(milliseconds(150), [&] { return reader.long_poll(); }), floor);
    print("long poll, changes one after the other",
          measured(milliseconds(0), [&] { return reader.long_poll(); }), floor);
    std::printf("  goal: %.0f ms\n", goal_ms);
}

}  // namespace bench
