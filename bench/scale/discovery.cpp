#include "scale/discovery.hpp"

#include "floor.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bench::scale {

namespace {

namespace asio = boost::asio;
using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

k8s_sd::ApiServerConfig api_server(const Server& server) {
    k8s_sd::ApiServerConfig config;
    config.url = "http://127.0.0.1:" + std::to_string(server.port);
    return config;
}

/// Latencies in milliseconds, from stamps.
class Latencies {
 public:
    void add(std::string_view stamp_text) {
        std::uint64_t sent = 0;
        std::from_chars(stamp_text.data(), stamp_text.data() + stamp_text.size(), sent);
        constexpr std::uint64_t wrap = 1'000'000'000;
        all_.push_back(static_cast<double>((stamp() + wrap - sent) % wrap) / 1e3);
    }
    std::size_t size() const noexcept { return all_.size(); }
    Latency summary() {
        std::sort(all_.begin(), all_.end());
        const auto at = [&](double share) {
            if (all_.empty()) return 0.0;
            return all_[static_cast<std::size_t>(share * static_cast<double>(all_.size() - 1))];
        };
        return {at(0.5), at(0.99), at(1)};
    }

 private:
    std::vector<double> all_;
};

/// A host that keeps all targets.
class Host {
 public:
    Host(const Server& server, const k8s_sd::DiscoveryConfig& config)
        : server_(server),
          base_mb_(memory_mb("VmRSS")),
          base_cpu_(cpu_seconds()),
          discoverer_(context_.get_executor(), config,
                      [this](const auto& diff) { on_diff(diff); }) {
        discoverer_.async_run([](k8s_sd::error_code) {});
    }

    void sync(Discovered& result) {
        phase_ = &longest_.sync;
        while (!synced_) run_one();
        result.cpu = cpu_seconds() - base_cpu_;
        const auto begin = Clock::now();  // of the watches
        while (Clock::now() - begin < std::chrono::milliseconds(500)) run_one();
        phase_ = &longest_.changes;
        result.memory_mb = memory_mb("VmRSS") - base_mb_;
        result.peak_mb = memory_mb("VmHWM") - base_mb_;
        result.groups = static_cast<double>(host_.group_count());
        result.targets = static_cast<double>(host_.target_count());
    }

    void change_node(Discovered& result) {
        constexpr std::size_t rounds = 20;
        std::vector<double> costs;
        for (std::size_t i = 1; i <= rounds; ++i) {
            const std::size_t before = changes_;
            const double cpu = thread_cpu_seconds();
            server_.send({Command::What::change_node, i, 0});
            run_until_quiet([&] { return changes_ != before; });
            costs.push_back(thread_cpu_seconds() - cpu);
            result.node_groups = static_cast<double>(changes_ - before);
        }
        std::nth_element(costs.begin(), costs.begin() + rounds / 2, costs.end());
        result.node_change = costs[rounds / 2];
    }

    void change_pods(Discovered& result, std::size_t count, std::size_t rate) {
        const double cpu = cpu_seconds();
        measures_latency_ = true;
        server_.send({Command::What::change_pods, count, rate});
        run_until_quiet([&] { return latencies_.size() >= count; });
        measures_latency_ = false;
        result.churn_cpu = cpu_seconds() - cpu;
        result.changes = static_cast<double>(latencies_.size());
        const Latency latency = latencies_.summary();
        std::tie(result.p50, result.p99, result.longest_latency) =
            std::tuple(latency.p50, latency.p99, latency.longest);
    }

    /// Two of five pods go while no watch sees it. The CPU is that of the list with the removals.
    void drop_pods(Discovered& result) {
        phase_ = &longest_.removals;
        const double cpu = cpu_seconds();
        const std::size_t copies = host_.group_count() / ObjectList::pods_of_copy;
        const std::size_t left =
            std::max<std::size_t>(copies * 3 / 5, 1) * ObjectList::pods_of_copy;
        server_.send({Command::What::drop_pods, left, 0});
        while (host_.group_count() > left) run_one();
        result.relist_cpu = cpu_seconds() - cpu;
    }

    void finish(Discovered& result) {
        result.longest = longest_;
        result.label_bytes = static_cast<double>(label_text(host_));
    }

 private:
    void run_one() {
        const double before = thread_cpu_seconds();
        context_.run_one_for(std::chrono::milliseconds(500));
        *phase_ = std::max(*phase_, thread_cpu_seconds() - before);
    }
    /// Until it is done, or no change has arrived for some seconds: changes of one pod are
    /// coalesced.
    template <class Done>
    void run_until_quiet(const Done& done) {
        constexpr auto quiet = std::chrono::seconds(3);
        for (auto last = Clock::now(); !done() && Clock::now() - last < quiet;) {
            const std::size_t before = changes_;
            run_one();
            if (changes_ != before) last = Clock::now();
        }
    }

    void on_diff(const k8s_sd::TargetGroupDiff& diff) {
        host_.apply(diff);
        if (diff.full) phase_ = &longest_.first_diff;
        if (!synced_) {
            synced_ = !diff.more;
            return;
        }
        changes_ += diff.updated.size();
        if (!measures_latency_) return;
        for (const auto& change : diff.updated) {
            latencies_.add(change.group->labels()
                               .get("__meta_kubernetes_pod_label_bench_example_com_rev")
                               .value_or(""));
        }
    }

    const Server& server_;
    const double base_mb_, base_cpu_;
    asio::io_context context_;
    k8s_sd::TargetGroups host_;
    Latencies latencies_;
    std::size_t changes_ = 0;
    bool synced_ = false, measures_latency_ = false;
    Handlers longest_{};
    double* phase_ = nullptr;  // what the present handler counts for
    k8s_sd::Discoverer discoverer_;
};

}  // namespace

Discovered discover(const Server& server, const k8s_sd::DiscoveryConfig& given, std::size_t changes,
                    std::size_t rate) {
    k8s_sd::DiscoveryConfig config = given;
    config.api_server = api_server(server);
    Discovered result{};
    Host host(server, config);
    host.sync(result);
    if (config.attach_metadata.node) host.change_node(result);
    if (changes > 0) {
        host.change_pods(result, changes, rate);
        host.drop_pods(result);
    }
    host.finish(result);
    return result;
}

// --- the floor of the latency --------------------------------------------------------------------

Latency floor_of_latency(const Server& server, std::size_t changes, std::size_t rate) {
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    socket.connect({asio::ip::address_v4::loopback(), server.port});
    asio::write(socket,
                asio::buffer(std::string_view("GET /api/v1/pods?watch=1 HTTP/1.1\r\n\r\n")));
    std::vector<char> buffer(256 * 1024);
    socket.read_some(asio::buffer(buffer));  // the head
    server.send({Command::What::change_pods, changes, rate});
    Latencies latencies;
    std::size_t kept = 0;
    while (latencies.size() < changes) {
        kept += socket.read_some(asio::buffer(buffer.data() + kept, buffer.size() - kept));
        std::string_view bytes(buffer.data(), kept);
        // The label in protobuf, or in JSON: the value begins two or three characters behind it.
        constexpr std::string_view label = "bench.example.com/rev";
        constexpr std::size_t value_end = label.size() + 3 + 9;
        for (auto at = bytes.find(label); at != std::string_view::npos; at = bytes.find(label)) {
            if (bytes.size() < at + value_end) break;
            const std::size_t skipped = label.size() + (bytes[at + label.size()] == '"' ? 3 : 2);
            // managedFields name the label, too.
            const std::string_view value = bytes.substr(at + skipped, 9);
            const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
            if (std::all_of(value.begin(), value.end(), is_digit)) latencies.add(value);
            bytes.remove_prefix(at + label.size());
        }
        kept = std::min(bytes.size(), value_end);
        std::copy(bytes.end() - static_cast<std::ptrdiff_t>(kept), bytes.end(), buffer.begin());
    }
    return latencies.summary();
}

// --- jobs ----------------------------------------------------------------------------------------

Jobs run_jobs(const Server& server, std::size_t pods, std::size_t count) {
    asio::io_context context;
    const double base = memory_mb("VmRSS");
    const double cpu = cpu_seconds();
    std::size_t synced = 0, groups = 0;
    k8s_sd::DiscoveryManager manager(context.get_executor(), [&](const k8s_sd::JobDiff& diff) {
        ++synced;
        for (const auto& provider : diff.providers) groups += provider.diff.updated.size();
    });
    manager.async_run([](k8s_sd::error_code) {});
    k8s_sd::DiscoveryConfig config;
    config.api_server = api_server(server);
    std::vector<k8s_sd::Job> jobs(count);
    for (std::size_t i = 0; i < count; ++i) {
        jobs[i].name = "job-" + std::to_string(i);
        jobs[i].configs = {config};
        if (count == 1) continue;
        // A namespace has five applications of a hundred pods.
        const std::size_t ns =
            i / 5 % std::max<std::size_t>(pods / ObjectList::pods_of_namespace, 1);
        char label[48];
        std::snprintf(label, sizeof label, "app=app-%04zu", ns % 4 * 5 + i % 5);
        config.selectors = {
            {k8s_sd::Role::pod, label, "metadata.namespace=" + ObjectList::namespace_name(ns)}};
        jobs[i].configs = {config};
    }
    manager.apply_config(std::move(jobs));
    while (synced < count) context.run_one();
    return {cpu_seconds() - cpu, memory_mb("VmRSS") - base, static_cast<double>(groups)};
}

}  // namespace bench::scale
