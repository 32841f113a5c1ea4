#include "k8s_sd/detail/groups/watch_set.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"

#include <algorithm>
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

// --- one of the watches --------------------------------------------------------------------------

/// A URLWatcher of the set, with its status for any thread.
class WatchSet::Watch final : private WatchObserver {
 public:
    Watch(WatchSet& set, WatchQuery query)
        : set_(set),
          kind_(query.kind),
          watcher_(set.client_, std::move(query), set.scope_.watch,
                   static_cast<WatchObserver&>(*this), set.maker_),
          published_(watcher_.status()) {}

    void start() {
        watcher_.start();
        publish();
    }
    const URLWatcher& watcher() const noexcept { return watcher_; }
    /// Under the mutex of the set.
    const WatchStatus& published() const noexcept { return published_; }

 private:
    void on_change(const ObjectChange& change) override { set_.observer_.on_change(change); }
    void on_synced() override { --set_.of(kind_).unsynced; }
    void on_batch_end() override {
        publish();
        set_.observer_.on_batch_end();
    }
    void on_status() override { publish(); }

    void publish() {
        WatchStatus status = watcher_.status();
        const std::lock_guard lock(set_.mutex_);
        std::swap(published_, status);
    }

    WatchSet& set_;
    const Kind kind_;
    URLWatcher watcher_;
    WatchStatus published_;
};

// --- all of them ---------------------------------------------------------------------------------

WatchSet::WatchSet(const asio::any_io_executor& strand, WatchScope scope,
                   const Environment& environment, std::shared_ptr<ObjectMaker> maker,
                   Observer& observer)
    : scope_(std::move(scope)),
      client_(make_shared_client(strand, scope_.api_server, environment)),
      maker_(std::move(maker)),
      observer_(observer) {}

WatchSet::~WatchSet() = default;

void WatchSet::start(const Kinds& kinds) {
    for (const Kind kind : kinds) {
        if (of(kind).watches.empty()) start(kind);
    }
}

void WatchSet::start(Kind kind) {
    std::vector<std::string> namespaces = scope_.namespaces;
    if (namespaces.empty() || !resource_of(kind).namespaced) namespaces = {""};
    Watches watches;
    for (std::string& ns : namespaces) {
        WatchQuery query{kind, ns, joined_selectors(scope_.selectors, kind, &Selector::label),
                         joined_selectors(scope_.selectors, kind, &Selector::field)};
        watches.emplace(std::move(ns), std::make_unique<Watch>(*this, std::move(query)));
    }
    OfKind& started = of(kind);
    started.unsynced = watches.size();
    {
        const std::lock_guard lock(mutex_);
        started.watches.swap(watches);
    }
    for (const auto& [ns, watch] : started.watches) watch->start();
}

void WatchSet::stop_all_but(const Kinds& needed) {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (is_one_of(needed, static_cast<Kind>(kind))) continue;
        OfKind stopped;
        const std::lock_guard lock(mutex_);
        std::swap(stopped, kinds_[kind]);
    }
}

bool WatchSet::synced(const Kinds& kinds) const {
    return std::all_of(kinds.begin(), kinds.end(),
                       [this](Kind kind) { return of(kind).unsynced == 0; });
}

const Object* WatchSet::find(Kind kind, std::string_view ns, std::string_view name) const {
    const Watches& watches = of(kind).watches;
    auto it = watches.find(resource_of(kind).namespaced ? ns : std::string_view());
    if (it == watches.end()) it = watches.find(std::string_view());
    return it == watches.end() ? nullptr : it->second->watcher().find(ns, name);
}

void WatchSet::for_each(Kind kind, const std::function<void(const ObjectPtr&)>& visit) const {
    for (const auto& [ns, watch] : of(kind).watches) watch->watcher().for_each(visit);
}

std::vector<WatchStatus> WatchSet::status(const Kinds& kinds) const {
    std::vector<WatchStatus> status;
    const std::lock_guard lock(mutex_);
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (!is_one_of(kinds, static_cast<Kind>(kind))) continue;
        for (const auto& [ns, watch] : kinds_[kind].watches) status.push_back(watch->published());
    }
    return status;
}

}  // namespace k8s_sd::inline v0::detail
