#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

WatchQuery cache_query(Kind kind, std::string_view ns, std::string_view name) {
    WatchQuery query;
    query.kind = kind;
    query.ns = ns;
    if (!name.empty()) query.field_selector = select_name(name);
    return query;
}

}  // namespace

CacheWatch::CacheWatch(Observer& observer, const CacheWatchSetup& setup, std::string_view ns,
                       std::string_view name)
    : observer_(observer),
      metrics_(setup.metrics),
      watcher_(
          Access::make<URLWatcher>(setup.client, cache_query(setup.kind, ns, name), *setup.options,
                                   static_cast<WatchObserver&>(*this),
                                   WatchMaking{.maker = setup.maker, .options = setup.options})) {
    ++metrics_->cache_watches;
}

CacheWatch::~CacheWatch() { --metrics_->cache_watches; }

std::string_view CacheWatch::name() const noexcept {
    return selected_name(Access::impl(watcher_).query());
}

std::string_view CacheWatch::ns() const noexcept { return Access::impl(watcher_).query().ns; }

void CacheWatch::start() {
    const auto self = shared_from_this();
    watcher_.start();
}

void CacheWatch::on_change(const ObjectChange& change) {
    // Before the first sync the state is incomplete.
    if (!synced()) return;
    const auto self = shared_from_this();
    observer_.on_object(*this, (change.after ? change.after : change.before)->name(), change.after);
}

void CacheWatch::on_synced() {
    const auto self = shared_from_this();
    observer_.on_synced(*this);
}

void CacheWatch::on_status() {
    const auto self = shared_from_this();
    observer_.on_status(*this);
}

bool CacheWatch::wants(std::string_view, std::string_view name) {
    return observer_.wants(*this, name);
}

}  // namespace k8s_sd::inline v0::detail
