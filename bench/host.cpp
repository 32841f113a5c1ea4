// The host measured by scripts/bench: discovers, keeps or counts targets, and reports the cost on
// standard output. Command-line words configure it (see options below), and lines on standard input
// control it: "report" prints the figures since the previous report, end of input ends the program.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;

constexpr std::string_view revision_label = "__meta_kubernetes_pod_label_bench_example_com_rev";
constexpr std::uint64_t last_revision = 999'999'999;

/// The words of the command line, "name=value".
class Options {
 public:
    Options(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            const std::string_view word = argv[i];
            const std::size_t equals = word.find('=');
            if (equals == std::string_view::npos)
                throw std::invalid_argument("usage: bench_host url=URL [role=R] [jobs=N] ...");
            values_[std::string(word.substr(0, equals))] = word.substr(equals + 1);
        }
    }
    std::string text(const std::string& name, const std::string& otherwise = {}) const {
        const auto it = values_.find(name);
        return it == values_.end() ? otherwise : it->second;
    }
    std::size_t number(const std::string& name, std::size_t otherwise) const {
        const auto it = values_.find(name);
        return it == values_.end() ? otherwise : std::stoul(it->second);
    }

 private:
    std::map<std::string, std::string> values_;
};

k8s_sd::DiscoveryConfig make_config(const Options& options, std::size_t job) {
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = options.text("url");
    config.api_server.tls.ca_file = options.text("ca");
    const std::string role = options.text("role", "pod");
    for (const auto each : {k8s_sd::Role::pod, k8s_sd::Role::endpoints, k8s_sd::Role::endpointslice,
                            k8s_sd::Role::node}) {
        if (k8s_sd::to_string(each) == role) config.role = each;
    }
    // Separate watches that never receive an event.
    if (options.number("quiet", 0) != 0) {
        config.namespaces = {"quiet-" + std::to_string(job)};
        config.watch.share_selectors = k8s_sd::SelectorSharing::never;
    }
    if (options.number("gzip", 0) != 0) config.watch.gzip = k8s_sd::Compression::always;
    config.attach_metadata.node = options.number("attach_node", 0) != 0;
    // Twenty applications; the suffix makes each selector distinct without narrowing it.
    if (options.number("different", 0) != 0) {
        char text[64];
        std::snprintf(text, sizeof text, "app=app-%04zu,bench!=%zu", job % 20, job);
        config.selectors.push_back({k8s_sd::Role::pod, text, {}});
    }
    return config;
}

double cpu_of_thread() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Host {
 public:
    explicit Host(const Options& options)
        : options_(options), input_(context_, ::dup(STDIN_FILENO)) {
        const std::size_t jobs = options.number("jobs", 1);
        waiting_ = jobs;
        k8s_sd::Environment environment;
        environment.limits.watches = 0;
        k8s_sd::install(context_, environment);
        for (std::size_t job = 0; job < jobs; ++job) {
            discoverers_.emplace_back(
                context_.get_executor(), make_config(options, job),
                [this, job](const k8s_sd::TargetGroupDiff& diff) { on_diff(job, diff); });
        }
    }

    void run() {
        bench::reset_peak();
        base_mb_ = bench::memory_mb("VmRSS");
        for (auto& discoverer : discoverers_) discoverer.async_run([](k8s_sd::error_code) {});
        read_command();
        // One handler at a time, to measure the longest one. Waiting costs no CPU.
        for (double before = cpu_of_thread(); context_.run_one() != 0;) {
            const double after = cpu_of_thread();
            max_handler_time_ = std::max(max_handler_time_, after - before);
            before = after;
        }
    }

 private:
    void on_diff(std::size_t job, const k8s_sd::TargetGroupDiff& diff) {
        const std::size_t sleep = diff.full ? 0 : options_.number("sleep_ms", 0);
        if (sleep != 0) std::this_thread::sleep_for(std::chrono::milliseconds(sleep));
        if (job == 0) host_.apply(diff);
        if (diff.full) {
            if (--waiting_ == 0) report("synced");
            return;
        }
        changes_ += diff.updated.size();
        for (const auto& change : diff.updated) visit(*change.group);
    }

    void visit(const k8s_sd::TargetGroup& group) {
        std::uint64_t revision = revision_of(group.labels());
        if (revision == 0 && options_.number("latency", 0) != 0) {
            for (std::size_t i = 0; i < group.size(); ++i) {
                revision = std::max(revision, revision_of(group[i]));
            }
        }
        // The last change of a burst; all jobs receive it together.
        if (revision == last_revision && ++last_seen_ == discoverers_.size()) report("last");
        if (options_.number("latency", 0) == 0 || revision == 0) return;
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
        const std::uint64_t stamp = static_cast<std::uint64_t>(us) % 1'000'000'000;
        const std::uint64_t latency = (stamp + 1'000'000'000 - revision) % 1'000'000'000;
        // Older stamps belong to other pods of the group.
        if (latency < 500'000'000) latencies_.push_back(static_cast<double>(latency) / 1000);
    }

    static std::uint64_t revision_of(const k8s_sd::Labels& labels) {
        const std::string_view text = labels.get(revision_label).value_or("");
        std::uint64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    void read_command() {
        asio::async_read_until(input_, commands_, '\n', [this](auto ec, std::size_t) {
            if (ec) return context_.stop();
            std::istream lines(&commands_);
            std::string line;
            std::getline(lines, line);
            // Release the memory that only the list needed.
            ::malloc_trim(0);
            if (line == "report") report("report");
            read_command();
        });
    }

    double percentile(double share) {
        if (latencies_.empty()) return 0;
        const auto at =
            static_cast<std::size_t>(share * static_cast<double>(latencies_.size() - 1));
        std::nth_element(latencies_.begin(), latencies_.begin() + static_cast<long>(at),
                         latencies_.end());
        return latencies_[at];
    }

    void report(const char* event) {
        std::uint64_t lists = 0;
        std::uint64_t watches = 0;
        for (const auto& kind : k8s_sd::metrics_of(context_)->kinds) {
            lists += kind.lists;
            watches += kind.watches;
        }
        const double cpu = bench::cpu_seconds();
        std::printf("{\"event\": \"%s\", \"cpu\": %.6f, \"peak_mb\": %.3f, \"memory_mb\": %.3f, "
                    "\"base_mb\": %.3f, \"groups\": %zu, \"targets\": %zu, \"changes\": %zu, "
                    "\"max_handler_ms\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
                    "\"lists\": %llu, \"watches\": %llu}\n",
                    event, cpu - cpu_, bench::memory_mb("VmHWM"), bench::memory_mb("VmRSS"),
                    base_mb_, host_.group_count(), host_.target_count(), changes_,
                    max_handler_time_ * 1000, percentile(0.5), percentile(0.99),
                    static_cast<unsigned long long>(lists),
                    static_cast<unsigned long long>(watches));
        std::fflush(stdout);
        bench::reset_peak();
        cpu_ = bench::cpu_seconds();
        changes_ = last_seen_ = 0;
        max_handler_time_ = 0;
        latencies_.clear();
    }

    const Options& options_;
    asio::io_context context_;
    asio::posix::stream_descriptor input_;
    asio::streambuf commands_;
    std::vector<k8s_sd::Discoverer> discoverers_;
    k8s_sd::TargetGroups host_;
    std::vector<double> latencies_;
    std::size_t waiting_ = 0, changes_ = 0, last_seen_ = 0;
    double base_mb_ = 0, cpu_ = 0, max_handler_time_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options(argc, argv);
        Host(options).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_host: %s\n", e.what());
        return 2;
    }
    return 0;
}
