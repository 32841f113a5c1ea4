// The functions of k8s_sd_c.h about contexts.

#include "arguments.hpp"
#include "coalesced_watch.hpp"
#include "context.hpp"
#include "data_watch.hpp"
#include "failure.hpp"
#include "group_event.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/version.hpp"
#include "object_event.hpp"
#include "read_config.hpp"
#include "tables.hpp"
#ifdef K8S_SD_C_SCRAPE
#include "scrape_watch.hpp"
#endif

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

struct k8s_sd_context {
    explicit k8s_sd_context(const k8s_sd_options& options) : value(options) {}
    k8s_sd_c::Context value;
};

namespace k8s_sd_c {

namespace {

/// \throws Failure unless the context can be used
Context& usable(k8s_sd_context* context) {
    if (!context) throw Failure(K8S_SD_INVALID_ARGUMENT, "context: must not be NULL");
    context->value.check();
    return context->value;
}

/// Runs `body` with the context.
template <class Body>
k8s_sd_code with(k8s_sd_context* context, k8s_sd_error** error, const Body& body) noexcept {
    return guarded(error, [&] { body(usable(context)); });
}

/// Adds a watch made by `make(host, identity)`.
template <class Make>
void add(Context& context, void* user, k8s_sd_id* id, const Make& make) {
    const k8s_sd_id added = context.add(user, make);
    if (id) *id = added;
}

/// A text for the host; null: see `error`.
template <class Make>
char* made_text(k8s_sd_context* context, k8s_sd_error** error, const Make& make) noexcept {
    char* copy = nullptr;
    with(context, error, [&](Context& c) {
        const std::string text = make(c);
        copy = static_cast<char*>(std::malloc(text.size() + 1));
        if (!copy) throw std::bad_alloc();
        std::memcpy(copy, text.c_str(), text.size() + 1);
    });
    return copy;
}

}  // namespace

}  // namespace k8s_sd_c

using k8s_sd_c::add;
using k8s_sd_c::Context;
using k8s_sd_c::Watch;
using k8s_sd_c::WatchIdentity;
using k8s_sd_c::with;

extern "C" {

uint32_t k8s_sd_abi_version(void) { return K8S_SD_ABI_VERSION; }

const char* k8s_sd_version(void) { return K8S_SD_VERSION; }

k8s_sd_context* k8s_sd_open(const k8s_sd_options* options, k8s_sd_error** error) {
    k8s_sd_context* context = nullptr;
    k8s_sd_c::guarded(error, [&] {
        // Before the exit handler of contexts, so exit() frees what the tables use after it.
        k8s_sd_c::make_tables();
        context = new k8s_sd_context(options ? k8s_sd_c::read(options) : k8s_sd_options{});
    });
    return context;
}

void k8s_sd_close(k8s_sd_context* context) {
    if (context && context->value.is_own_process()) context->value.close();
}

void k8s_sd_free(k8s_sd_context* context) {
    if (!context) return;
    if (context->value.is_own_process()) {
        delete context;
    } else {
        // Everything else may be in use by threads that this process does not have.
        context->value.close_fd_of_child();
    }
}

k8s_sd_code k8s_sd_discover(k8s_sd_context* context, const k8s_sd_config* config, k8s_sd_id* id,
                            k8s_sd_error** error) {
    return with(context, error, [&](Context& c) {
        using Discovery = k8s_sd_c::CoalescedWatch<k8s_sd::Discoverer, k8s_sd::DiscoveryConfig,
                                                   k8s_sd_c::GroupEvent>;
        const k8s_sd_config given = k8s_sd_c::read(config);
        add(c, given.user, id, [&](const Watch::Host& host, WatchIdentity identity) {
            return std::make_shared<Discovery>(host, identity,
                                               k8s_sd_c::read_discovery(given, host.find_server));
        });
    });
}

k8s_sd_code k8s_sd_scrape(k8s_sd_context* context, const k8s_sd_config* config, k8s_sd_id* id,
                          k8s_sd_error** error) {
    return with(context, error, [&](Context& c) {
        const k8s_sd_config given = k8s_sd_c::read(config);
        add(c, given.user, id,
            [&](const Watch::Host& host, WatchIdentity identity) -> std::shared_ptr<Watch> {
#ifdef K8S_SD_C_SCRAPE
                return std::make_shared<k8s_sd_c::ScrapeWatch>(
                    host, identity, k8s_sd_c::read_jobs(given, host.find_server),
                    given.max_changes);
#else
                static_cast<void>(host), static_cast<void>(identity);
                throw k8s_sd_c::Failure(K8S_SD_UNSUPPORTED,
                                        "the library was built with K8S_SD_SCRAPE=OFF");
#endif
            });
    });
}

k8s_sd_code k8s_sd_reload(k8s_sd_context* context, k8s_sd_id id, const k8s_sd_config* config,
                          k8s_sd_error** error) {
    return with(context, error, [&](Context& c) { c.reload(id, k8s_sd_c::read(config)); });
}

k8s_sd_code k8s_sd_watch(k8s_sd_context* context, const k8s_sd_query* query, k8s_sd_id* id,
                         k8s_sd_error** error) {
    return with(context, error, [&](Context& c) {
        using Objects = k8s_sd_c::CoalescedWatch<k8s_sd::Watcher<k8s_sd::Generic>,
                                                 k8s_sd::WatcherConfig, k8s_sd_c::ObjectEvent>;
        const k8s_sd_query given = k8s_sd_c::read(query);
        add(c, given.user, id, [&](const Watch::Host& host, WatchIdentity identity) {
            return std::make_shared<Objects>(host, identity,
                                             k8s_sd_c::read_watcher(given, host.find_server));
        });
    });
}

k8s_sd_code k8s_sd_follow(k8s_sd_context* context, const k8s_sd_query* query, k8s_sd_id* id,
                          k8s_sd_error** error) {
    return with(context, error, [&](Context& c) {
        const k8s_sd_query given = k8s_sd_c::read(query);
        add(c, given.user, id, [&](const Watch::Host& host, WatchIdentity identity) {
            const auto cache = k8s_sd_c::read_cache(given, host.find_server);
            const std::string ns = k8s_sd_c::required(given.name_space, "name_space");
            const std::string name = k8s_sd_c::required(given.name, "name");
            return std::make_shared<k8s_sd_c::DataWatch>(host, identity, cache, ns, name);
        });
    });
}

k8s_sd_code k8s_sd_cancel(k8s_sd_context* context, k8s_sd_id id, k8s_sd_error** error) {
    return with(context, error, [&](Context& c) { c.cancel(id); });
}

int k8s_sd_fd(const k8s_sd_context* context) {
    if (!context || !context->value.has_thread()) return -1;
    return context->value.queue().fd().get();
}

int k8s_sd_poll(k8s_sd_context* context, int timeout_ms, k8s_sd_error** error) {
    bool ready = false;
    const k8s_sd_code code = with(context, error, [&](Context& c) { ready = c.poll(timeout_ms); });
    return code == K8S_SD_OK ? static_cast<int>(ready) : static_cast<int>(code);
}

k8s_sd_event* k8s_sd_next(k8s_sd_context* context) {
    if (!context || !context->value.is_own_process()) return nullptr;
    k8s_sd_c::EventPtr event;
    k8s_sd_c::guarded(nullptr, [&] { event = context->value.queue().take(); });
    return k8s_sd_c::to_host(std::move(event));
}

char* k8s_sd_status_json(k8s_sd_context* context, k8s_sd_error** error) {
    return k8s_sd_c::made_text(context, error, [](Context& c) { return c.status_json(); });
}

char* k8s_sd_metrics_text(k8s_sd_context* context, k8s_sd_error** error) {
    return k8s_sd_c::made_text(context, error, [](Context& c) { return c.metrics_text(); });
}

void k8s_sd_text_free(char* text) { std::free(text); }

}  // extern "C"
