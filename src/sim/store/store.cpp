#include "sim/store/store.hpp"

#include <boost/json/array.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

/// Deterministic, so tests can rely on it; unique, since it is made from the version counter. The
/// counter comes first: at the end it would leave the upper bits of fnv1a64() unchanged, and all
/// objects in one shard.
std::string make_uid(std::uint64_t version) {
    std::array<char, 37> text{};
    std::snprintf(text.data(), text.size(), "%08llx-%04llx-4000-8000-000000000000",
                  static_cast<unsigned long long>(version & 0xffff'ffffU),
                  static_cast<unsigned long long>(version >> 32U & 0xffffU));
    return text.data();
}

json::string uid_of(const json::object& value) {
    const json::value* uid = value.at("metadata").as_object().if_contains("uid");
    return uid && uid->is_string() ? uid->get_string() : json::string();
}

}  // namespace

Store::Collection& Store::of(const ResourceType& type) const {
    const auto [it, is_new] = collections_.try_emplace(&type);
    // The history of a custom resource begins when it is added.
    if (is_new) it->second.forgotten = type.custom ? version_ : compacted_;
    return it->second;
}
void Store::append(Collection& c, Change change) {
    version_ = std::max(version_, change.version);
    c.changes.push_back(std::move(change));
    while (c.changes.size() > history_limit_) {
        c.forgotten = std::max(c.forgotten, c.changes.front().version);
        c.changes.pop_front();
        ++c.first;
    }
}

void Store::put(Collection& c, ObjectPtr object) {
    ObjectPtr previous;
    const auto found = c.objects.find(object->key());
    if (found != c.objects.end()) {
        previous = *found;
        c.objects.insert(c.objects.erase(found), object);
    } else {
        c.objects.insert(object);
    }
    const std::uint64_t version = object->version();
    append(c, {version, std::move(object), std::move(previous), nullptr, {}});
}

bool Store::erase(Collection& c, std::string_view key, ObjectPtr last_state) {
    const auto found = c.objects.find(key);
    if (found == c.objects.end()) return false;
    ObjectPtr previous = *found;
    if (!last_state) last_state = with_version(*previous, version_ + 1);
    c.objects.erase(found);
    const std::uint64_t version = last_state->version();
    append(c, {version, nullptr, std::move(previous), std::move(last_state), {}});
    return true;
}

std::pair<ObjectPtr, bool> Store::put(const ResourceType& type, json::object value) {
    const std::string key = key_of(type, value);
    Collection& c = of(type);
    const auto found = c.objects.find(std::string_view(key));
    if (uid_of(value).empty()) {
        value["metadata"].get_object()["uid"] = found == c.objects.end()
                                                    ? json::string(make_uid(version_ + 1))
                                                    : uid_of((*found)->value());
    }
    if (found != c.objects.end()) {
        const Object unchanged(type, value, (*found)->version());
        if (unchanged.text() == (*found)->text()) return {*found, false};
    }
    auto object = std::make_shared<const Object>(type, std::move(value), version_ + 1);
    put(c, object);
    return {std::move(object), true};
}

std::pair<std::uint64_t, bool> Store::apply(const ResourceType& type, json::object value) {
    const std::lock_guard lock(mutex_);
    const auto [object, changed] = put(type, std::move(value));
    return {object->version(), changed};
}

ObjectPtr Store::edit(const ResourceType& type, std::string_view key,
                      const std::function<json::object(const Object*)>& change) {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    const auto found = c.objects.find(key);
    return put(type, change(found == c.objects.end() ? nullptr : found->get())).first;
}

ObjectPtr Store::remove(const ResourceType& type, std::string_view key,
                        const std::function<void(const Object&)>& check) {
    const std::lock_guard lock(mutex_);
    Collection& c = of(type);
    const auto found = c.objects.find(key);
    if (found == c.objects.end()) return nullptr;
    ObjectPtr removed = *found;
    if (check) check(*removed);
    erase(c, key, nullptr);
    return removed;
}

void Store::replay(const ResourceType& type, json::object value, bool deleted) {
    const std::uint64_t version = version_of(value);
    auto object = std::make_shared<const Object>(type, std::move(value), version);
    const std::lock_guard lock(mutex_);
    if (deleted) {
        const std::string key(object->key());
        erase(of(type), key, std::move(object));
    } else {
        put(of(type), std::move(object));
    }
}

void Store::append_recorded(const ResourceType& type, std::uint64_t version, std::string event) {
    const std::lock_guard lock(mutex_);
    append(of(type), {version, nullptr, nullptr, nullptr, std::move(event)});
}

void Store::load(const ResourceType& type, std::uint64_t version, const json::array& items) {
    Objects objects;
    for (const json::value& item : items) {
        if (!item.is_object()) throw std::invalid_argument("a list item is not an object");
        const std::uint64_t item_version = version_of(item.get_object());
        objects.insert(std::make_shared<const Object>(type, item.get_object(), item_version));
    }
    const std::lock_guard lock(mutex_);
    Collection& c = of(type);
    c.objects.swap(objects);
    c.first = c.end();
    c.changes.clear();
    c.forgotten = version;
    ++c.epoch;
    version_ = std::max(version_, version);
}

void Store::compact() {
    const std::lock_guard lock(mutex_);
    // Running watches still get these changes; new ones must not begin before now.
    compacted_ = version_;
    for (auto& [type, c] : collections_) c.forgotten = version_;
}

std::uint64_t Store::version() const {
    const std::lock_guard lock(mutex_);
    return version_;
}

std::uint64_t Store::oldest_version(const ResourceType& type) const {
    const std::lock_guard lock(mutex_);
    return of(type).forgotten;
}

ObjectPtr Store::get(const ResourceType& type, std::string_view key) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    const auto found = c.objects.find(key);
    return found == c.objects.end() ? nullptr : *found;
}

std::size_t Store::count(const ResourceType& type) const {
    const std::lock_guard lock(mutex_);
    return of(type).objects.size();
}

Snapshot Store::select(const Collection& c, const Objects& objects, std::string_view ns,
                       std::uint64_t version) {
    Snapshot result{version, {}, c.end(), c.epoch};
    if (ns.empty()) {
        result.objects.assign(objects.begin(), objects.end());
        return result;
    }
    const std::string prefix = std::string(ns) + "/";
    for (auto i = objects.lower_bound(std::string_view(prefix)); i != objects.end(); ++i) {
        if ((*i)->key().substr(0, prefix.size()) != prefix) break;
        result.objects.push_back(*i);
    }
    return result;
}

Snapshot Store::newest(const ResourceType& type, std::string_view ns) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    return select(c, c.objects, ns, version_);
}

Snapshot Store::newest_of(const ResourceType& type, std::string_view key) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    Snapshot result{version_, {}, c.end(), c.epoch};
    const auto found = c.objects.find(key);
    if (found != c.objects.end()) result.objects.push_back(*found);
    return result;
}

std::optional<Snapshot> Store::at(const ResourceType& type, std::string_view ns,
                                  std::uint64_t version) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    if (version < c.forgotten || version > version_) return std::nullopt;
    if (c.changes.empty() || c.changes.back().version <= version) {
        return select(c, c.objects, ns, version);
    }
    Objects objects = c.objects;
    for (auto i = c.changes.rbegin(); i != c.changes.rend() && i->version > version; ++i) {
        if (i->object) objects.erase(objects.find(i->object->key()));
        if (i->previous) objects.insert(i->previous);
    }
    return select(c, objects, ns, version);
}

std::optional<Store::Position> Store::position_after(const ResourceType& type,
                                                     std::uint64_t version) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    if (version < c.forgotten) return std::nullopt;
    const auto begin =
        std::upper_bound(c.changes.begin(), c.changes.end(), version,
                         [](std::uint64_t v, const Change& change) { return v < change.version; });
    return Position{c.first + static_cast<std::uint64_t>(begin - c.changes.begin()), c.epoch};
}

Store::ReadResult Store::read(const ResourceType& type, Position& position, std::uint64_t& version,
                              const std::function<bool(const Change&)>& visit) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    version = version_;
    if (position.epoch != c.epoch) return ReadResult::replaced;
    if (position.next < c.first) return ReadResult::lost;
    while (position.next < c.end()) {
        const Change& change = c.changes[static_cast<std::size_t>(position.next - c.first)];
        if (!visit(change)) return ReadResult::more;
        ++position.next;
    }
    return ReadResult::end;
}

std::uint64_t Store::unread(const ResourceType& type, const Position& position) const {
    const std::lock_guard lock(mutex_);
    const Collection& c = of(type);
    return c.end() - std::min(c.end(), position.next);
}

}  // namespace k8s_sd::inline v0::sim
