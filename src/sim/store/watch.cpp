#include "sim/store/watch.hpp"

#include "sim/api/status.hpp"

namespace k8s_sd::inline v0::sim {

Watch::Watch(const Store& store, const ResourceType& type, std::string ns, ListOptions options,
             Encoding encoding)
    : store_(store),
      type_(type),
      ns_(std::move(ns)),
      options_(std::move(options)),
      encoding_(std::move(encoding)) {
    begin();
}

void Watch::begin() {
    const std::uint64_t version = options_.version.value_or(0);
    if (options_.initial_events.value_or(version == 0)) {
        const std::uint64_t current = store_.version();
        if (version > current) {
            error_ = version_too_large(version, current).status;
        } else {
            begin_with_state();
        }
        return;
    }
    begin_after(version == 0 ? store_.version() : version);
}

void Watch::begin_with_state() {
    // There may be a watch for each object.
    const std::string* const name = options_.name();
    const bool single = name && (!ns_.empty() || !type_.namespaced);
    Snapshot state =
        single ? store_.newest_of(type_, key_of(type_, ns_, *name)) : store_.newest(type_, ns_);
    position_ = {state.next, state.epoch};
    initial_version_ = state.version;
    skip_until_ = state.version;
    initial_bookmark_ = options_.bookmarks && options_.initial_end;
    initial_ = std::move(state.objects);
}

void Watch::begin_after(std::uint64_t version) {
    skip_until_ = version;
    if (const auto position = store_.position_after(type_, version)) {
        position_ = *position;
    } else {
        fail_expired(version);
    }
}

void Watch::fail_expired(std::uint64_t version) {
    error_ = status_object(410, "Expired",
                           "too old resource version: " + std::to_string(version) + " (" +
                               std::to_string(store_.oldest_version(type_)) + ")");
}

void Watch::produce(std::string& out, std::size_t limit) {
    if (!ending_ && error_.empty() && produce_initial(out, limit)) produce_changes(out, limit);
    if (!error_.empty()) {
        append_error(out, error_, encoding_);
        ending_ = true;
    }
    if (end_at_ && initial_.empty() && position_.next >= *end_at_) ending_ = true;
    ended_ = ending_;
}

bool Watch::produce_initial(std::string& out, std::size_t limit) {
    while (initial_sent_ < initial_.size()) {
        if (out.size() >= limit) return false;
        const ObjectPtr& object = initial_[initial_sent_++];
        if (selected(object)) append(out, "ADDED", *object);
    }
    std::vector<ObjectPtr>().swap(initial_);
    initial_sent_ = 0;
    if (initial_bookmark_) append_bookmark(out, type_, initial_version_, true, encoding_);
    initial_bookmark_ = false;
    return true;
}

void Watch::produce_changes(std::string& out, std::size_t limit) {
    std::uint64_t version = 0;
    const auto result = store_.read(type_, position_, version, [&](const Change& change) {
        if (out.size() >= limit || (end_at_ && position_.next >= *end_at_)) return false;
        append_change(out, change);
        return true;
    });
    switch (result) {
        case Store::ReadResult::more: return;
        case Store::ReadResult::lost: ending_ = true; return;
        case Store::ReadResult::replaced: fail_expired(skip_until_); return;
        case Store::ReadResult::end: break;
    }
    // A watch from a future version gets nothing, not even bookmarks, until this version.
    if (bookmark_wanted_ && version >= skip_until_) {
        append_bookmark(out, type_, version, false, encoding_);
    }
    bookmark_wanted_ = false;
}

void Watch::append_change(std::string& out, const Change& change) {
    if (!change.recorded.empty()) {
        if (options_.bookmarks) append_recorded(out, change.recorded, type_, encoding_);
        return;
    }
    if (change.version <= skip_until_) return;
    const bool was = selected(change.previous);
    const bool is = selected(change.object);
    if (is) {
        append(out, was ? "MODIFIED" : "ADDED", *change.object);
    } else if (was) {
        append(out, "DELETED",
               change.deleted ? *change.deleted : *with_version(*change.previous, change.version));
    }
}

void Watch::append(std::string& out, std::string_view event, const Object& object) {
    append_event(out, event,
                 encoding_.drops_managed_fields ? object.without_managed_fields() : object,
                 encoding_, first_event_);
    first_event_ = false;
}

bool Watch::selected(const ObjectPtr& object) const {
    return object && (ns_.empty() || object->ns() == ns_) && options_.selects(*object);
}

}  // namespace k8s_sd::inline v0::sim
