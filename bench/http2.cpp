// HTTP/1.1 and HTTP/2 over TLS: the start of an ObjectCache with a watch for each object, and a
// list of many pods. The server is the simulated one, in a separate process.

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
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

struct Server {
    std::string url;
    pid_t process = -1;
};

std::string name_of(std::size_t i) { return "credentials-" + std::to_string(100'000 + i); }

Server serve(std::size_t secrets, std::size_t pods) {
    int pipe[2];
    if (::pipe(pipe) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
        asio::io_context context;
        k8s_sd::sim::ApiServerOptions options;
        options.http2 = true;
        make_certificate(options);
        k8s_sd::sim::ApiServer server(context.get_executor(), options);
        for (std::size_t i = 0; i < secrets; ++i) {
            server.apply(R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":")" + name_of(i) +
                         R"(","namespace":"shop"},"data":{"username":"c2NyYXBlcg=="}})");
        }
        for (std::size_t i = 0; i < pods; ++i) {
            const std::string name = "web-" + std::to_string(i);
            server.apply(k8s_sd::sim::pod("shop", name)
                             .ip("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250))
                             .container("web", "web:1", 80)
                             .annotation("padding", std::string(4000, 'x')));
        }
        const unsigned short port = server.listen();
        if (::write(pipe[1], &port, sizeof port) != sizeof port) std::abort();
        context.run();
        std::_Exit(0);
    }
    unsigned short port = 0;
    if (::read(pipe[0], &port, sizeof port) != sizeof port) std::abort();
    return {"https://127.0.0.1:" + std::to_string(port), child};
}

k8s_sd::ApiServerConfig config_of(const Server& server, HttpVersion version) {
    k8s_sd::ApiServerConfig config;
    config.url = server.url;
    config.tls.insecure_skip_verify = true;
    config.http_version = version;
    return config;
}

struct CacheResult {
    double connections, heap, cpu, server_cpu, wall;
};

CacheResult start_cache(const Server& server, HttpVersion version, std::size_t objects) {
    asio::io_context context;
    k8s_sd::Environment environment;
    environment.limits.watches = 0;
    k8s_sd::install(context, std::move(environment));
    k8s_sd::ObjectCacheConfig config;
    config.api_server = config_of(server, version);
    k8s_sd::ObjectCache cache(context.get_executor(), config);
    const auto metrics = k8s_sd::metrics_of(context);
    const auto& watchers = metrics->of(k8s_sd::Kind::secret);
    const auto heap = [] {
        const struct mallinfo2 info = ::mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    };
    const double heap_before = heap();
    const double cpu_before = bench::cpu_seconds();
    const double server_before = bench::cpu_seconds_of(server.process);
    const auto began = std::chrono::steady_clock::now();
    std::vector<k8s_sd::ObjectCache::Reference> references;
    for (std::size_t i = 0; i < objects; ++i) {
        references.push_back(cache.add_reference("shop", name_of(i)));
    }
    const auto wanted = static_cast<std::int64_t>(objects);
    while (watchers.watches < objects || watchers.synced_watchers < wanted) context.run_one();
    CacheResult result{};
    result.wall = Seconds(std::chrono::steady_clock::now() - began).count();
    result.cpu = bench::cpu_seconds() - cpu_before;
    result.server_cpu = bench::cpu_seconds_of(server.process) - server_before;
    const auto shared = static_cast<double>(metrics->http2_connections);
    result.connections = shared > 0 ? shared : static_cast<double>(objects);
    result.heap = (heap() - heap_before) / static_cast<double>(objects);
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

ListResult list_pods(const Server& server, HttpVersion version) {
    asio::io_context context;
    auto client =
        std::make_shared<k8s_sd::ApiClient>(context.get_executor(), config_of(server, version));
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

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_http2 [OBJECTS=1000] [PODS=10000]");
        return 0;
    }
    const std::size_t objects = bench::argument(argc, argv, 1, 1000);
    const std::size_t pods = bench::argument(argc, argv, 2, 10'000);
    const Server server = serve(objects, pods);
    constexpr std::pair<const char*, HttpVersion> versions[] = {{"HTTP/1.1", HttpVersion::http1},
                                                                {"HTTP/2", HttpVersion::http2}};
    std::printf("%zu Secrets with a watch each, over TLS\n", objects);
    for (const auto& [name, version] : versions) {
        const CacheResult r =
            bench::in_process([&, used = version] { return start_cache(server, used, objects); });
        std::printf("%-9s %5.0f connections, %6.0f bytes an object, %.2f s CPU, %.2f s CPU of the "
                    "server, %.2f s\n",
                    name, r.connections, r.heap, r.cpu, r.server_cpu, r.wall);
    }
    std::printf("a list of %zu pods of 4 KB, over TLS; the best of 5\n", pods);
    list_pods(server, HttpVersion::http1);  // the server encodes each pod once
    for (const auto& [name, version] : versions) {
        ListResult best{1e9, 1e9};
        for (int i = 0; i < 5; ++i) {
            const ListResult r =
                bench::in_process([&, used = version] { return list_pods(server, used); });
            if (r.cpu < best.cpu) best = r;
        }
        std::printf("%-9s %.3f s CPU, %.3f s\n", name, best.cpu, best.wall);
    }
    ::kill(server.process, SIGTERM);
    ::waitpid(server.process, nullptr, 0);
    return 0;
}
