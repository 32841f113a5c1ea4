// The functions of k8s_sd_c.h about events.

#include "arguments.hpp"
#include "event.hpp"
#include "failure.hpp"

#include <string_view>

namespace k8s_sd_c {

namespace {

const Event* of(const k8s_sd_event* event) { return reinterpret_cast<const Event*>(event); }
Event* of(k8s_sd_event* event) { return reinterpret_cast<Event*>(event); }

k8s_sd_string optional_view(const std::optional<std::string_view>& text) {
    return text ? view(*text) : k8s_sd_string{};
}

/// The result of `body`, or zero if it throws or there is no such change.
template <class Result, class Handle, class Body>
Result of_change(Handle* event, std::size_t change, const Body& body) noexcept {
    Result result{};
    guarded(nullptr, [&] {
        if (event && change < of(event)->size()) result = body(*of(event));
    });
    return result;
}

/// The same for a whole event.
template <class Result, class Handle, class Body>
Result of_event(Handle* event, const Body& body) noexcept {
    Result result{};
    guarded(nullptr, [&] {
        if (event) result = body(*of(event));
    });
    return result;
}

}  // namespace

k8s_sd_event* to_host(EventPtr event) noexcept {
    return reinterpret_cast<k8s_sd_event*>(event.release());
}

}  // namespace k8s_sd_c

using k8s_sd_c::Event;
using k8s_sd_c::of_change;
using k8s_sd_c::of_event;

extern "C" {

void k8s_sd_event_free(k8s_sd_event* event) { delete k8s_sd_c::of(event); }

int k8s_sd_event_type_of(const k8s_sd_event* event) {
    return of_event<int>(event, [](const Event& e) { return e.type(); });
}

k8s_sd_id k8s_sd_event_watch(const k8s_sd_event* event) {
    return of_event<k8s_sd_id>(event, [](const Event& e) { return e.watch().id; });
}

void* k8s_sd_event_user(const k8s_sd_event* event) {
    return of_event<void*>(event, [](const Event& e) { return e.watch().user; });
}

int k8s_sd_event_full(const k8s_sd_event* event) {
    return of_event<int>(event, [](const Event& e) { return e.full(); });
}

int k8s_sd_event_more(const k8s_sd_event* event) {
    return of_event<int>(event, [](const Event& e) { return e.more(); });
}

int k8s_sd_event_synced(const k8s_sd_event* event) {
    return of_event<int>(event, [](const Event& e) { return e.synced(); });
}

k8s_sd_string k8s_sd_event_message(const k8s_sd_event* event) {
    return of_event<k8s_sd_string>(event,
                                   [](const Event& e) { return k8s_sd_c::view(e.message()); });
}

k8s_sd_string k8s_sd_event_job(const k8s_sd_event* event) {
    return of_event<k8s_sd_string>(event, [](const Event& e) { return k8s_sd_c::view(e.job()); });
}

k8s_sd_string k8s_sd_event_json(k8s_sd_event* event) {
    return of_event<k8s_sd_string>(event, [](Event& e) { return k8s_sd_c::view(e.json()); });
}

size_t k8s_sd_event_size(const k8s_sd_event* event) {
    return of_event<size_t>(event, [](const Event& e) { return e.size(); });
}

int k8s_sd_change_op(const k8s_sd_event* event, size_t change) {
    return of_change<int>(event, change, [&](const Event& e) { return e.op(change); });
}

k8s_sd_string k8s_sd_change_key(k8s_sd_event* event, size_t change) {
    return of_change<k8s_sd_string>(event, change,
                                    [&](Event& e) { return k8s_sd_c::view(e.key(change)); });
}

size_t k8s_sd_change_targets(const k8s_sd_event* event, size_t change) {
    return of_change<size_t>(event, change, [&](const Event& e) { return e.targets(change); });
}

size_t k8s_sd_change_pairs(const k8s_sd_event* event, size_t change, int64_t set,
                           k8s_sd_pair* pairs, size_t capacity) {
    return of_change<size_t>(event, change, [&](const Event& e) {
        return e.pairs(change, set, {pairs, pairs ? capacity : 0});
    });
}

k8s_sd_string k8s_sd_change_value(const k8s_sd_event* event, size_t change, int64_t set,
                                  const char* name) {
    return of_change<k8s_sd_string>(event, change, [&](const Event& e) {
        return name ? k8s_sd_c::optional_view(e.value(change, set, name)) : k8s_sd_string{};
    });
}

k8s_sd_string k8s_sd_change_field(k8s_sd_event* event, size_t change, const char* pointer) {
    return of_change<k8s_sd_string>(event, change, [&](Event& e) {
        return pointer ? k8s_sd_c::optional_view(e.field(change, pointer)) : k8s_sd_string{};
    });
}

k8s_sd_string k8s_sd_change_url(k8s_sd_event* event, size_t change) {
    return of_change<k8s_sd_string>(event, change,
                                    [&](Event& e) { return k8s_sd_c::view(e.url(change)); });
}

uint64_t k8s_sd_change_interval_ms(const k8s_sd_event* event, size_t change) {
    return of_change<uint64_t>(event, change,
                               [&](const Event& e) { return e.interval_ms(change); });
}

uint64_t k8s_sd_change_timeout_ms(const k8s_sd_event* event, size_t change) {
    return of_change<uint64_t>(event, change, [&](const Event& e) { return e.timeout_ms(change); });
}

}  // extern "C"
