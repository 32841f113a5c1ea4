// Memory per object of an ObjectCache, and its number of connections: with one watch per object,
// and with one watch of the collection. The server is a separate process.

#include "k8s_sd/cache/object_cache.hpp"

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "measure.hpp"
#include "secret_server.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace asio = boost::asio;

// The figure in a comment of the kubelet's object cache about its own store.
constexpr double kubelet_bytes = 600;

double resident_bytes() { return bench::memory_mb("VmRSS") * 1024 * 1024; }

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
        const auto first = cache.add_reference("shop", bench::secret_name(0));
        bool done = false;
        cache.async_get(first, [&](k8s_sd::error_code, const k8s_sd::ObjectPtr&) { done = true; });
        while (!done) context.run_one();
    }
    context.run();  // until no handler is left
    context.restart();
    ::malloc_trim(0);
    const double heap = bench::heap_bytes();
    const double resident = resident_bytes();
    std::vector<k8s_sd::ObjectCache::Reference> references;
    references.reserve(objects);
    for (std::size_t i = 0; i < objects; ++i) {
        references.push_back(cache.add_reference("shop", bench::secret_name(i)));
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
    result.heap = (bench::heap_bytes() - heap) / static_cast<double>(objects);
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
    const bench::SecretServer server = bench::serve_secrets({}, objects);
    std::printf("%zu Secrets, referred to once each; their names, types and data take 83 bytes\n",
                objects);
    print("single watches", bench::in_process([&] { return measure(server.url, objects, 0); }));
    print("one collection", bench::in_process([&] { return measure(server.url, objects, 50); }));
    bench::stop(server);
    return 0;
}
