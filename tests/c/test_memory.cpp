// Memory is exhausted once, at each allocation in turn: every change still arrives.

#include "support.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

/// The number of allocations of the library's code until one fails; 0: none fails.
std::atomic<long> left{0};
/// Small allocations do not fail: Asio ends the process then, since its executors must not throw.
constexpr std::size_t smallest = 200;
/// Whether this thread may fail.
thread_local bool fails = false;

void* allocate(std::size_t size) {
    if (fails && size >= smallest && left > 0 && left.fetch_sub(1) == 1) throw std::bad_alloc();
    void* const memory = std::malloc(size > 0 ? size : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// What is watched, and how the host sees the address of the only pod.
struct Kind {
    void (*start)(k8s_sd_context*, const server&);
    bool (*shows)(k8s_sd_event*, const char* address);
};

void start_discovery(k8s_sd_context* context, const server& server) {
    discover_pods(context, &server, "");
}
bool group_shows(k8s_sd_event* event, const char* address) {
    return contains(k8s_sd_change_value(event, 0, 0, "__address__"), address) != 0;
}

void start_scrape(k8s_sd_context* context, const server& server) {
    auto config = K8S_SD_INIT(k8s_sd_config);
    char yaml[256];
    std::snprintf(yaml, sizeof yaml,
                  "scrape_configs: [{job_name: web, kubernetes_sd_configs: [{role: pod, "
                  "api_server: '%s'}]}]",
                  server.url);
    config.yaml = yaml;
    k8s_sd_error* error = nullptr;
    k8s_sd_scrape(context, &config, nullptr, &error);
    expect_ok(error);
}
bool target_shows(k8s_sd_event* event, const char* address) {
    for (std::size_t i = 0; i < k8s_sd_event_size(event); ++i) {
        if (k8s_sd_change_op(event, i) == K8S_SD_ADDED &&
            contains(k8s_sd_change_url(event, i), address)) {
            return true;
        }
    }
    return false;
}

void start_watch(k8s_sd_context* context, const server& server) {
    auto query = K8S_SD_INIT(k8s_sd_query);
    char yaml[128];
    std::snprintf(yaml, sizeof yaml, "api_server: %s", server.url);
    query.server = yaml;
    query.kind = "Pod";
    k8s_sd_error* error = nullptr;
    k8s_sd_watch(context, &query, nullptr, &error);
    expect_ok(error);
}
bool object_shows(k8s_sd_event* event, const char* address) {
    return contains(k8s_sd_change_field(event, 0, "/status/podIP"), address) != 0;
}

/// \param count  the allocation that fails; 0: none
void await(k8s_sd_context* context, const Kind& kind, const char* address, long count) {
    left = count;
    for (bool shown = false; !shown;) {
        fails = true;
        const int ready = k8s_sd_poll(context, -1, nullptr);
        fails = false;
        CHECK(ready >= 0 || ready == K8S_SD_OUT_OF_MEMORY);
        fails = true;
        k8s_sd_event* const event = k8s_sd_next(context);
        fails = false;
        shown = event && kind.shows(event, address);
        k8s_sd_event_free(event);
    }
}

void exhaust(const Kind& kind) {
    server server = start_server();
    k8s_sd_context* const context = open_context(K8S_SD_NO_THREAD);
    char address[32];
    apply_pod(&server, "web-0", "10.0.0.1");
    kind.start(context, server);
    await(context, kind, "10.0.0.1", 0);
    long count = 0;
    do {
        ++count;
        std::snprintf(address, sizeof address, "10.1.%ld.%ld", count / 250, count % 250 + 1);
        apply_pod(&server, "web-0", address);
        await(context, kind, address, count);
    } while (left == 0);  // until no allocation has failed
    std::printf("  %ld allocations\n", count - 1);
    CHECK(count > 1);
    k8s_sd_free(context);
    stop_server(&server);
}

void discovery() { exhaust({start_discovery, group_shows}); }
void scraping() { exhaust({start_scrape, target_shows}); }
void objects() { exhaust({start_watch, object_shows}); }

}  // namespace

int main(int argc, char** argv) {
    static const test tests[] = {{"memory: discovery", discovery},
                                 {"memory: scrape targets", scraping},
                                 {"memory: objects", objects},
                                 {nullptr, nullptr}};
    return run_tests(argc, argv, tests);
}
