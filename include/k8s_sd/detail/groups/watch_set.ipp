#include "k8s_sd/detail/groups/watch_set.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string joined_selectors(const std::vector<Selector>& selectors, Kind kind,
                             std::string Selector::*member) {
    std::string text;
    for (const Selector& selector : selectors) {
        if (main_kind(selector.role) != kind || (selector.*member).empty()) continue;
        if (!text.empty()) text += ',';
        text += selector.*member;
    }
    return text;
}

bool is_one_of(const WatchSet::Kinds& kinds, Kind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

WatchSet::WatchSet(const asio::any_io_executor& strand, WatchScope scope,
                   const Environment& environment, std::shared_ptr<ObjectMaker> maker,
                   WatchObserver& observer)
    : scope_(std::move(scope)),
      client_(make_shared_client(strand, scope_.api_server, environment)),
      maker_(std::move(maker)),
      observer_(observer) {}

void WatchSet::start(const Kinds& kinds) {
    for (const Kind kind : kinds) {
        if (of(kind).empty()) start(kind);
    }
    publish_status();
}

void WatchSet::start(Kind kind) {
    std::vector<std::string> namespaces = scope_.namespaces;
    if (namespaces.empty() || !resource_of(kind).namespaced) namespaces = {""};
    for (const std::string& ns : namespaces) {
        WatchQuery query{kind, ns, joined_selectors(scope_.selectors, kind, &Selector::label),
                         joined_selectors(scope_.selectors, kind, &Selector::field)};
        auto watcher = std::make_unique<URLWatcher>(client_, std::move(query), scope_.watch,
                                                    observer_, maker_);
        watcher->start();
        of(kind).emplace(ns, std::move(watcher));
    }
}

void WatchSet::stop_all_but(const Kinds& needed) {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (!is_one_of(needed, static_cast<Kind>(kind))) watchers_[kind].clear();
    }
    publish_status();
}

bool WatchSet::synced(const Kinds& kinds) const {
    return std::all_of(kinds.begin(), kinds.end(), [this](Kind kind) { return synced(kind); });
}

bool WatchSet::synced(Kind kind) const {
    return std::all_of(of(kind).begin(), of(kind).end(),
                       [](const auto& watcher) { return watcher.second->synced(); });
}

const Object* WatchSet::find(Kind kind, std::string_view ns, std::string_view name) const {
    const Watchers& watchers = of(kind);
    auto it = watchers.find(resource_of(kind).namespaced ? ns : std::string_view());
    if (it == watchers.end()) it = watchers.find(std::string_view());
    return it == watchers.end() ? nullptr : it->second->find(ns, name);
}

void WatchSet::for_each(Kind kind, const std::function<void(const ObjectPtr&)>& visit) const {
    for (const auto& [ns, watcher] : of(kind)) watcher->for_each(visit);
}

// --- status --------------------------------------------------------------------------------------

void WatchSet::publish_status() {
    std::vector<WatchStatus> status;
    for (const Watchers& watchers : watchers_) {
        for (const auto& [ns, watcher] : watchers) status.push_back(watcher->status());
    }
    const std::lock_guard lock(status_mutex_);
    status_.swap(status);
}

void WatchSet::publish_counts() {
    const std::lock_guard lock(status_mutex_);
    auto status = status_.begin();
    for (const Watchers& watchers : watchers_) {
        for (const auto& [ns, watcher] : watchers) (status++)->objects = watcher->size();
    }
}

std::vector<WatchStatus> WatchSet::status(const Kinds& kinds) const {
    std::vector<WatchStatus> status;
    const std::lock_guard lock(status_mutex_);
    std::copy_if(status_.begin(), status_.end(), std::back_inserter(status),
                 [&](const WatchStatus& watch) { return is_one_of(kinds, watch.kind); });
    return status;
}

}  // namespace k8s_sd::inline v0::detail
