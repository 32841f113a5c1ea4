// Memory per object of an ObjectCache, and its number of connections: with one watch per object,
// and with one watch of the collection. The server is a separate process.

#include "k8s_sd/cache/object_cache.hpp"

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;

// The figure in a comment of the kubelet's object cache about its own store.
constexpr double kubelet_bytes = 600;

struct Server {
    std::string url;
    pid_t process = -1;
};

std::string name_of(std::size_t i) { return "credentials-" + std::to_string(100'000 + i); }

Server serve(std::size_t objects) {
    int pipe[2];
    if (::pipe(pipe) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
        asio::io_context context;
        k8s_sd::sim::ApiServer server(context.get_executor());
        for (std::size_t i = 0; i < objects; ++i) {
            server.apply(
                R"({"kind":"Secret","apiVersion":"v1","type":"Opaque","metadata":{"name":")" +
                name_of(i) +
                R"(","namespace":"shop"},"data":{"username":"c2NyYXBlcg==",)"
                R"("password":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}})");
        }
        const unsigned short port = server.listen();
        if (::write(pipe[1], &port, sizeof port) != sizeof port) std::abort();
        context.run();
        std::_Exit(0);
    }
    unsigned short port = 0;
    if (::read(pipe[0], &port, sizeof port) != sizeof port) std::abort();
    return {"http://127.0.0.1:" + std::to_string(port), child};
}

double resident_bytes() { return bench::memory_mb("VmRSS") * 1024 * 1024; }

// Allocated bytes, without the allocator's reserve.
double heap_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Result {
    double heap, resident, connections;
};

Result measure(const std::string& url, std::size_t objects, std::size_t threshold) {
    asio::io_context context;
    k8s_sd::Environment environment;
    environment.limits.watches = 0;
    k8s_sd::install(context, std::move(environment));
    k8s_sd::ObjectCacheConfig config;
    config.api_server.url = url;
    config.collection_threshold = threshold;
    k8s_sd::ObjectCache cache(context.get_executor(), config);
    const auto metrics = k8s_sd::metrics_of(context);
    {
        // The first object pays for shared data.
        const auto first = cache.add_reference("shop", name_of(0));
        bool done = false;
        cache.async_get(first, [&](k8s_sd::error_code, const k8s_sd::ObjectPtr&) { done = true; });
        while (!done) context.run_one();
    }
    context.run();  // until no handler is left
    context.restart();
    ::malloc_trim(0);
    const double heap = heap_bytes();
    const double resident = resident_bytes();
    std::vector<k8s_sd::ObjectCache::Reference> references;
    references.reserve(objects);
    for (std::size_t i = 0; i < objects; ++i) {
        references.push_back(cache.add_reference("shop", name_of(i)));
    }
    const auto& watchers = metrics->of(k8s_sd::Kind::secret);
    const auto before = static_cast<std::int64_t>(watchers.watches);
    const auto watching = [&] {
        const auto wanted = static_cast<std::int64_t>(objects);
        return metrics->cached_objects == wanted && watchers.objects == wanted &&
               watchers.synced_watchers == watchers.watchers &&
               static_cast<std::int64_t>(watchers.watches) - before >= metrics->cache_watches;
    };
    while (!watching()) context.run_one();
    context.poll();
    Result result{};
    result.connections = static_cast<double>(metrics->cache_watches);
    result.heap = (heap_bytes() - heap) / static_cast<double>(objects);
    ::malloc_trim(0);
    result.resident = (resident_bytes() - resident) / static_cast<double>(objects);
    return result;
}

void print(const char* what, const Result& result) {
    std::printf("%-18s %6.0f connections, %6.0f bytes an object (resident: %6.0f), %.2f of %.0f\n",
                what, result.connections, result.heap, result.resident, result.heap / kubelet_bytes,
                kubelet_bytes);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_object_cache [OBJECTS=1000]");
        return 0;
    }
    const std::size_t objects = bench::argument(argc, argv, 1, 1000);
    const Server server = serve(objects);
    std::printf("%zu Secrets, referred to once each; their names, types and data take 83 bytes\n",
                objects);
    print("single watches", bench::in_process([&] { return measure(server.url, objects, 0); }));
    print("one collection", bench::in_process([&] { return measure(server.url, objects, 50); }));
    ::kill(server.process, SIGTERM);
    ::waitpid(server.process, nullptr, 0);
    return 0;
}
