// The time until the page shows its first rows, right after the start and once its table exists.

#include "http_client.hpp"
#include "jobs.hpp"
#include "processes.hpp"
#include "sections.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* rows = "/api/ui/targets?limit=50&facets=1";
constexpr const char* compressed = "Accept-Encoding: gzip\r\n";

struct Timed {
    double ms;
    HttpAnswer answer;
};

Timed timed(HttpClient& client, const char* target, const char* headers) {
    const auto begun = Clock::now();
    HttpAnswer answer = client.get(target, headers);
    return {std::chrono::duration<double, std::milli>(Clock::now() - begun).count(),
            std::move(answer)};
}

bool is_building(const HttpAnswer& answer) {
    return answer.body.find("\"building\":") != answer.body.npos;
}

double median(HttpClient& client, const char* target, const char* headers) {
    std::vector<double> times(21);
    for (double& time : times) time = timed(client, target, headers).ms;
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

void measure_page(const ServedPods& served) {
    const K8sSd program(config_of(job_of_pods("pods", served.server.port)));
    HttpClient client(program.port());
    const Timed first = timed(client, rows, "");
    const auto begun = Clock::now();
    while (is_building(client.get(rows))) {
    }
    const std::chrono::duration<double, std::milli> built = Clock::now() - begun;
    std::size_t page_bytes = 0;
    for (const char* file : {"/", "/ui/app.js", "/ui/app.css"}) {
        page_bytes += client.get(file, compressed).body.size();
    }
    const double floor = median(client, "/livez", "");
    const double with_table = median(client, rows, "");
    print("floor: /livez", floor, "ms");
    print(is_building(first.answer) ? "first rows right after the start, of a part of the table"
                                    : "first rows right after the start",
          first.ms, "ms", floor);
    print("until the table is there, asked again and again", first.ms + built.count(), "ms");
    print("first rows, with the table", with_table, "ms", floor);
    print("the same without facets", median(client, "/api/ui/targets?limit=50", ""), "ms", floor);
    print("bytes of the answer",
          static_cast<double>(timed(client, rows, "").answer.body.size()) / 1e3, "KB");
    print("the same, compressed",
          static_cast<double>(timed(client, rows, compressed).answer.body.size()) / 1e3, "KB");
    print("the page itself, compressed", static_cast<double>(page_bytes) / 1e3, "KB");
    std::printf("  goal: 200 ms, 100 KB\n");
}

}  // namespace bench
