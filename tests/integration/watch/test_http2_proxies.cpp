#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/certificates.hpp"
#include "support/objects.hpp"
#include "support/real_server.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <signal.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

// Debian's proxies that speak HTTP/2, in front of the simulated API server.

using namespace k8s_sd;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t streams_of_a_connection = 5;

struct ProxyProgram {
    std::string name;
    int reload = SIGHUP;  ///< lets it continue with new processes; the old ones end gracefully
};

/// The arguments of a proxy with TLS for a server without.
std::vector<std::string> proxy_arguments(const std::string& program, unsigned short port,
                                         unsigned short server, const test::ServerFolder& folder) {
    const std::string own = std::to_string(port);
    const std::string other = std::to_string(server);
    const std::string streams = std::to_string(streams_of_a_connection);
    const std::string in = folder.path() + "/";
    if (program == "nghttpx") {
        return {"--conf=/dev/null",
                "--frontend=127.0.0.1," + own,
                "--workers=1",
                "--backend=127.0.0.1," + other,
                "--no-ocsp",
                "--frontend-http2-max-concurrent-streams=" + streams,
                "--pid-file=" + in + "pid",
                "--backend-read-timeout=10m",
                in + "key",
                in + "certificate"};
    }
    if (program == "haproxy") {
        return {"-W", "-p", in + "pid", "-f",
                folder.write("config", "global\n  tune.h2.max-concurrent-streams " + streams +
                                           "\n"
                                           "defaults\n"
                                           "  mode http\n"
                                           "  timeout connect 1m\n"
                                           "  timeout client 10m\n"
                                           "  timeout server 10m\n"
                                           "frontend tls\n"
                                           "  bind 127.0.0.1:" +
                                           own + " ssl crt " + in +
                                           "both alpn h2,http/1.1\n"
                                           "  default_backend api\n"
                                           "backend api\n"
                                           "  server api 127.0.0.1:" +
                                           other + "\n")};
    }
    std::string temporary;
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        temporary += std::string(kind) + "_temp_path " + in + kind + ";\n";
    }
    return {"-p",
            in,
            "-e",
            "stderr",
            "-c",
            folder.write("config", "daemon off;\nworker_processes 1;\nerror_log stderr;\npid " +
                                       in + "pid;\nevents {}\nhttp {\naccess_log off;\n" +
                                       temporary + "server {\nlisten 127.0.0.1:" + own +
                                       " ssl http2;\n"
                                       "ssl_certificate " +
                                       in + "certificate;\nssl_certificate_key " + in +
                                       "key;\nhttp2_max_concurrent_streams " + streams +
                                       ";\nlocation / {\nproxy_pass http://127.0.0.1:" + other +
                                       ";\nproxy_http_version 1.1;\nproxy_buffering off;\n"
                                       "proxy_read_timeout 10m;\n}\n}\n}\n")};
}

struct ProxiedWatch final : WatchObserver {
    void on_change(const ObjectChange&) override { ++changes; }
    void on_synced() override {}
    void on_batch_end() override {}
    void on_status() override {}

    std::optional<URLWatcher> watcher;
    int changes = 0;
};

/// Watches of pods through a proxy, each in a namespace of its own.
struct ProxiedCluster {
    explicit ProxiedCluster(const std::string& program) {
        if (!detail::has_http2()) SKIP("built without nghttp2");
        const test::CertificateAuthority authority;
        const test::Identity identity = authority.server({"127.0.0.1"});
        folder.write("key", identity.key);
        folder.write("certificate", identity.certificate);
        folder.write("both", identity.certificate + identity.key);
        const unsigned short port = server.listen();
        proxy.emplace(program, authority.certificate(), [&](unsigned short own) {
            std::filesystem::remove(folder.path() + "/pid");  // of an attempt that failed
            return proxy_arguments(program, own, port, folder);
        });
        ApiServerConfig config;
        config.url = "https://127.0.0.1:" + std::to_string(proxy->port());
        config.tls.ca = authority.certificate();
        config.http_version = HttpVersion::http2;
        Environment environment;
        environment.metrics = metrics;
        client = std::make_shared<ApiClient>(io.get_executor(), config, environment);
    }
    static std::string name_of(std::size_t i) { return "ns" + std::to_string(i); }
    void change(const std::string& ip) {
        for (std::size_t i = 0; i < watches.size(); ++i) {
            server.apply(test::pod({.name = "web", .ns = name_of(i), .ip = ip}));
        }
    }
    void watch(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string ns = name_of(watches.size());
            server.apply(test::pod({.name = "web", .ns = ns, .ip = "10.0.0.1"}));
            ProxiedWatch& watch = watches.emplace_back();
            watch.watcher.emplace(client, WatchQuery{Kind::pod, ns, {}, {}}, WatchOptions{},
                                  static_cast<WatchObserver&>(watch));
            watch.watcher->start();
        }
        wait_until([this] {
            return all([](const ProxiedWatch& watch) {
                return watch.watcher->status().waiting == Waiting::events;
            });
        });
    }
    template <class Condition>
    bool all(Condition condition) const {
        return std::all_of(watches.begin(), watches.end(), condition);
    }
    /// Of the first watches.
    std::uint64_t lists(std::size_t of_watches) const {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < of_watches; ++i) {
            for (const std::uint64_t lists : watches[i].watcher->status().lists) count += lists;
        }
        return count;
    }
    /// Lets the proxy continue with new processes.
    void reload(int signal) {
        int process = 0;
        // Complete with its line break.
        wait_until([&] {
            const std::string text = folder.read("pid");
            process = text.ends_with('\n') ? std::atoi(text.c_str()) : 0;
            return process > 0;
        });
        REQUIRE(::kill(process, signal) == 0);
    }
    void wait_until(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + 2min;
        while (!condition() && std::chrono::steady_clock::now() < end) io.run_one_for(100ms);
        REQUIRE(condition());
    }

    test::ServerFolder folder;
    asio::io_context io;
    sim::ApiServer server{io.get_executor()};
    std::optional<test::RealProgram> proxy;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::shared_ptr<ApiClient> client;
    std::deque<ProxiedWatch> watches;
};

}  // namespace

TEST_CASE("HTTP/2 through a proxy: watches share connections, and survive its reload") {
    const auto proxy =
        GENERATE(ProxyProgram{"nghttpx"}, ProxyProgram{"haproxy", SIGUSR2}, ProxyProgram{"nginx"});
    INFO(proxy.name);
    ProxiedCluster c(proxy.name);
    c.watch(12);
    CHECK(c.all([](const auto& watch) { return watch.watcher->status().http_version == 2; }));
    CHECK(c.metrics->http2_connections >= 3);  // the limit of streams
    CHECK(c.metrics->http2_connections <= 6);
    // The old processes send GOAWAY. They keep their streams, or the watches resume.
    c.reload(proxy.reload);
    c.change("10.0.0.2");
    c.wait_until([&] { return c.all([](const auto& watch) { return watch.changes >= 2; }); });
    c.watch(3);
    c.change("10.0.0.3");
    c.wait_until([&] {
        return c.all([](const auto& watch) {
            const WatchStatus status = watch.watcher->status();
            return status.waiting == Waiting::events && watch.changes >= 2 && !status.error;
        });
    });
    CHECK(c.lists(12) == 12);  // the reload may cut the list of a later watch
}
