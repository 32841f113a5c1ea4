#include "k8s_sd/detail/sharing/watch_plan.hpp"
#include "k8s_sd/detail/sharing/watch_set.hpp"

#include <algorithm>
#include <string>
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

WantedObjects wanted_objects(const WatchScope& scope, Kind kind) {
    const WatchQuery query = query_of(scope, kind, {});
    WantedObjects wanted{scope.namespaces, query.label_selector, query.field_selector};
    if (main_kind(scope.share_role) == kind) wanted.share = scope.share;
    return wanted;
}

}  // namespace

WatchQuery query_of(const WatchScope& scope, Kind kind, const std::string& ns) {
    return {kind, ns, joined_selectors(scope.selectors, kind, &Selector::label),
            joined_selectors(scope.selectors, kind, &Selector::field)};
}

WatchSet::WatchSet(std::shared_ptr<SharedWatches> watches, const WatchScope& scope,
                   VersionedDialect dialect, Observer& observer)
    : watches_(std::move(watches)), scope_(scope), dialect_(dialect), observer_(observer) {}

void WatchSet::start(const Kinds& kinds) {
    for (const Kind kind : kinds) {
        if (of(kind)) continue;
        auto view = std::make_unique<KindView>(watches_->of(kind, dialect_),
                                               wanted_objects(scope_, kind), observer_);
        const std::lock_guard lock(mutex_);
        kinds_[static_cast<std::size_t>(kind)] = std::move(view);
    }
}

void WatchSet::stop_all_but(const Kinds& needed) {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (is_one_of(needed, static_cast<Kind>(kind))) continue;
        std::unique_ptr<KindView> stopped;
        const std::lock_guard lock(mutex_);
        stopped.swap(kinds_[kind]);
    }
}

bool WatchSet::synced(const Kinds& kinds) const {
    return std::all_of(kinds.begin(), kinds.end(),
                       [this](Kind kind) { return of(kind) && of(kind)->synced(); });
}

bool WatchSet::know_present_server(const Kinds& kinds) const {
    return std::all_of(kinds.begin(), kinds.end(),
                       [this](Kind kind) { return of(kind) && of(kind)->knows_present_server(); });
}

const Object* WatchSet::find(Kind kind, std::string_view ns, std::string_view name) const {
    return of(kind) ? of(kind)->find(ns, name) : nullptr;
}

void WatchSet::for_each(Kind kind, const std::function<void(const ObjectPtr&)>& visit) const {
    if (of(kind)) of(kind)->for_each(visit);
}

std::vector<WatchStatus> WatchSet::status(const Kinds& kinds) const {
    std::vector<WatchStatus> status;
    const std::lock_guard lock(mutex_);
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (kinds_[kind] && is_one_of(kinds, static_cast<Kind>(kind)))
            kinds_[kind]->add_status(status);
    }
    return status;
}

}  // namespace k8s_sd::inline v0::detail
