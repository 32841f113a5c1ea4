#include "k8s_sd/detail/groups/watch_set.hpp"
#include "k8s_sd/detail/groups/watched_namespaces.hpp"
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

WatchQuery query_of(const WatchScope& scope, Kind kind, const std::string& ns) {
    return {kind, ns, joined_selectors(scope.selectors, kind, &Selector::label),
            joined_selectors(scope.selectors, kind, &Selector::field)};
}

// --- one of the watches --------------------------------------------------------------------------

/// A URLWatcher of the set, with its status for any thread.
class WatchSet::Watch final : private WatchObserver {
 public:
    Watch(WatchSet& set, WatchQuery query)
        : set_(set),
          kind_(query.kind),
          together_(query.ns.empty() && resource_of(kind_).namespaced &&
                    !set.scope_.namespaces.empty()),
          watcher_(set.client_, std::move(query), set.scope_.watch,
                   static_cast<WatchObserver&>(*this), set.maker_),
          published_(watcher_.status()) {}

    void start() {
        watcher_.start();
        publish();
    }
    /// It begins with this object, which another watch has listed.
    void adopt(const ObjectPtr& object) { watcher_.adopt(object); }
    /// What it has adopted is a complete state.
    void set_known() noexcept { known_ = true; }
    Kind kind() const noexcept { return kind_; }
    const URLWatcher& watcher() const noexcept { return watcher_; }
    /// Under the mutex of the set.
    const WatchStatus& published() const noexcept { return published_; }

 private:
    void on_change(const ObjectChange& change) override { set_.observer_.on_change(change); }
    void on_synced() override {
        if (!std::exchange(known_, true)) --set_.of(kind_).unsynced;
    }
    void on_batch_end() override {
        publish();
        set_.observer_.on_batch_end();
    }
    void on_status() override { publish(); }
    bool wants(std::string_view ns, std::string_view) override {
        return !together_ || set_.has_namespace(ns);
    }
    bool makes_up_for(error_code failure) override {
        if (!together_ || !is_refused(failure)) return false;
        set_.split(*this, failure);  // this watch is no more
        return true;
    }

    // What was allowed once is given up when it is forbidden three times in a row: authorizers
    // fail as well. Namespaces may be small where the cluster is too large.
    bool is_refused(error_code failure) {
        if (failure == errc::too_many_objects) return true;
        if (!watcher_.synced()) {
            return failure == errc::forbidden || failure == errc::not_found ||
                   failure == errc::bad_request || failure == errc::unexpected_status;
        }
        const bool again = failure == errc::forbidden && watcher_.status().error == failure;
        refusals_ = again ? refusals_ + 1 : 0;
        return refusals_ == 2;
    }

    void publish() {
        WatchStatus status = watcher_.status();
        status.synced = status.synced || known_;
        const std::lock_guard lock(set_.mutex_);
        std::swap(published_, status);
    }

    WatchSet& set_;
    const Kind kind_;
    const bool together_;  ///< it watches all namespaces and keeps some
    bool known_ = false;   ///< the complete state was known once
    int refusals_ = 0;     ///< that followed another one
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
    Watches watches = make_watches(kind, namespaces_to_watch(kind));
    const std::size_t unsynced = watches.size();
    run(kind, std::move(watches), unsynced);
}

std::vector<std::string> WatchSet::namespaces_to_watch(Kind kind) const {
    return watched_namespaces(kind, scope_.namespaces,
                              of(kind).refused ? 0 : scope_.watch.cluster_wide_from);
}

bool WatchSet::has_namespace(std::string_view ns) const {
    return std::binary_search(scope_.namespaces.begin(), scope_.namespaces.end(), ns,
                              std::less<>());
}

WatchSet::Watches WatchSet::make_watches(Kind kind, const std::vector<std::string>& namespaces) {
    Watches watches;
    for (const std::string& ns : namespaces) {
        watches.emplace(ns, std::make_unique<Watch>(*this, query_of(scope_, kind, ns)));
    }
    return watches;
}

void WatchSet::run(Kind kind, Watches watches, std::size_t unsynced) {
    OfKind& state = of(kind);
    state.unsynced = unsynced;
    {
        const std::lock_guard lock(mutex_);
        state.watches.swap(watches);
    }
    for (const auto& [ns, watch] : state.watches) watch->start();
}

// Objects that are known stay until a list of their namespace says otherwise.
void WatchSet::split(Watch& together, error_code why) {
    const Kind kind = together.kind();
    of(kind).refused = true;
    const Logger& logger = client_->impl().environment.logger;
    if (logger.enabled(LogLevel::info)) {
        logger.log(LogLevel::info, std::string(to_string(kind)) + " of " +
                                       std::to_string(scope_.namespaces.size()) +
                                       " namespaces are watched one by one, because the server "
                                       "refuses to list and watch those of all namespaces: " +
                                       why.message());
    }
    Watches watches = make_watches(kind, scope_.namespaces);
    together.watcher().for_each(
        [&](const ObjectPtr& object) { watches.find(object->ns())->second->adopt(object); });
    const bool known = together.watcher().synced();
    for (const auto& [ns, watch] : watches) {
        if (known) watch->set_known();
    }
    const std::size_t unsynced = known ? 0 : watches.size();
    run(kind, std::move(watches), unsynced);
}

void WatchSet::stop_all_but(const Kinds& needed) {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (is_one_of(needed, static_cast<Kind>(kind))) continue;
        Watches stopped;
        const std::lock_guard lock(mutex_);
        stopped.swap(kinds_[kind].watches);
        kinds_[kind].unsynced = 0;
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
