// HTTP/1.1 and HTTP/2 over TLS: the start of an ObjectCache with a watch for each object, and a
// list of many pods, without and with a delay. The server is the simulated one, in a separate
// process.

#include "delay.hpp"
#include "k8s_sd/api_client.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "measure.hpp"
#include "secret_server.hpp"

#include <boost/asio/io_context.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using k8s_sd::HttpVersion;
using Seconds = std::chrono::duration<double>;

template <class Write>
std::string pem_of(Write write) {
    BIO* const memory = BIO_new(BIO_s_mem());
    if (write(memory) != 1) std::abort();
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory, &bytes);
    std::string text(bytes, static_cast<std::size_t>(size));
    BIO_free(memory);
    return text;
}

/// A self-signed certificate; the client does not verify it.
void make_certificate(k8s_sd::sim::ApiServerOptions& options) {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    options.tls_certificate =
        pem_of([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
    options.tls_key = pem_of([&](BIO* out) {
        return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
}

void add_pods(k8s_sd::sim::ApiServer& server, std::size_t pods, std::size_t bytes) {
    for (std::size_t i = 0; i < pods; ++i) {
        server.apply(k8s_sd::sim::pod("shop", "web-" + std::to_string(i))
                         .ip("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250))
                         .container("web", "web:1", 80)
                         .annotation("padding", std::string(bytes, 'x')));
    }
}

k8s_sd::ApiServerConfig config_of(const std::string& url, HttpVersion version) {
    k8s_sd::ApiServerConfig config;
    config.url = url;
    config.tls.insecure_skip_verify = true;
    config.http_version = version;
    return config;
}

struct CacheResult {
    double connections, heap, cpu, server_cpu, wall;
};

CacheResult start_cache(const bench::SecretServer& server, HttpVersion version,
                        std::size_t objects) {
    asio::io_context context;
    k8s_sd::Environment environment;
    environment.limits.watches = 0;
    k8s_sd::install(context, std::move(environment));
    k8s_sd::ObjectCacheConfig config;
    config.api_server = config_of(server.url, version);
    k8s_sd::ObjectCache cache(context.get_executor(), config);
    const auto metrics = k8s_sd::metrics_of(context);
    const auto& watchers = metrics->of(k8s_sd::Kind::secret);
    const double heap_before = bench::heap_bytes();
    const double cpu_before = bench::cpu_seconds();
    const double server_before = bench::cpu_seconds_of(server.process);
    const auto began = std::chrono::steady_clock::now();
    std::vector<k8s_sd::ObjectCache::Reference> references;
    for (std::size_t i = 0; i < objects; ++i) {
        references.push_back(cache.add_reference("shop", bench::secret_name(i)));
    }
    const auto wanted = static_cast<std::int64_t>(objects);
    while (watchers.watches < objects || watchers.synced_watchers < wanted) context.run_one();
    CacheResult result{};
    result.wall = Seconds(std::chrono::steady_clock::now() - began).count();
    result.cpu = bench::cpu_seconds() - cpu_before;
    result.server_cpu = bench::cpu_seconds_of(server.process) - server_before;
    const auto shared = static_cast<double>(metrics->http2_connections);
    result.connections = shared > 0 ? shared : static_cast<double>(objects);
    context.poll();  // handlers that are posted, and their memory
    result.heap = (bench::heap_bytes() - heap_before) / static_cast<double>(objects);
    return result;
}

struct Silent final : k8s_sd::WatchObserver {
    void on_change(const k8s_sd::ObjectChange&) override {}
    void on_synced() override { synced = true; }
    void on_batch_end() override {}
    void on_status() override {}
    bool synced = false;
};

struct ListResult {
    double cpu, wall;
};

ListResult list_pods(const std::string& url, HttpVersion version) {
    asio::io_context context;
    auto client =
        std::make_shared<k8s_sd::ApiClient>(context.get_executor(), config_of(url, version));
    Silent observer;
    k8s_sd::WatchOptions options;
    options.watch_list = false;
    options.page_size = 0;
    const double cpu = bench::cpu_seconds();
    const auto began = std::chrono::steady_clock::now();
    k8s_sd::URLWatcher watcher(client, k8s_sd::WatchQuery{}, options,
                               static_cast<k8s_sd::WatchObserver&>(observer));
    watcher.start();
    while (!observer.synced) context.run_one();
    return {bench::cpu_seconds() - cpu, Seconds(std::chrono::steady_clock::now() - began).count()};
}

constexpr std::pair<const char*, HttpVersion> versions[] = {{"HTTP/1.1", HttpVersion::http1},
                                                            {"HTTP/2", HttpVersion::http2}};

/// The best list of each version. They take turns, so that other work of the machine affects both.
std::array<ListResult, 2> best_lists(const std::string& url, int attempts) {
    std::array<ListResult, 2> best{{{1e9, 1e9}, {1e9, 1e9}}};
    for (int i = 0; i < attempts; ++i) {
        for (std::size_t v = 0; v < best.size(); ++v) {
            const ListResult r =
                bench::in_process([&] { return list_pods(url, versions[v].second); });
            best[v] = {std::min(best[v].cpu, r.cpu), std::min(best[v].wall, r.wall)};
        }
    }
    return best;
}

void print(const std::array<ListResult, 2>& best) {
    for (std::size_t v = 0; v < best.size(); ++v)
        std::printf("%-9s %.3f s CPU, %.3f s\n", versions[v].first, best[v].cpu, best[v].wall);
    std::printf("ratio     %.2f of CPU, %.2f of time\n", best[1].cpu / best[0].cpu,
                best[1].wall / best[0].wall);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_http2 [OBJECTS=1000] [PODS=10000] [BYTES OF A POD=4000]");
        return 0;
    }
    const std::size_t objects = bench::argument(argc, argv, 1, 1000);
    const std::size_t pods = bench::argument(argc, argv, 2, 10'000);
    const std::size_t bytes = bench::argument(argc, argv, 3, 4000);
    k8s_sd::sim::ApiServerOptions options;
    options.http2 = true;
    make_certificate(options);
    const bench::SecretServer server =
        bench::serve_secrets(options, objects, [&](auto& to) { add_pods(to, pods, bytes); });
    std::printf("%zu Secrets with a watch each, over TLS\n", objects);
    for (const auto& [name, version] : versions) {
        const CacheResult r =
            bench::in_process([&, used = version] { return start_cache(server, used, objects); });
        std::printf("%-9s %5.0f connections, %6.0f bytes an object, %.3f s CPU, %.3f s CPU of the "
                    "server, %.2f s\n",
                    name, r.connections, r.heap, r.cpu, r.server_cpu, r.wall);
    }
    std::printf("a list of %zu pods of %zu bytes, over TLS; the best of 5\n", pods, bytes);
    list_pods(server.url, HttpVersion::http1);  // the server encodes each pod once
    print(best_lists(server.url, 5));
    std::puts("the same with a delay of 10 ms for a request and its response; the best of 5");
    const auto port =
        static_cast<unsigned short>(std::stoul(server.url.substr(server.url.rfind(':') + 1)));
    const bench::Delay far = bench::delay(port, std::chrono::milliseconds(5));
    const std::string url = "https://127.0.0.1:" + std::to_string(far.port);
    print(best_lists(url, 5));
    bench::stop(far);
    bench::stop(server);
    return 0;
}
