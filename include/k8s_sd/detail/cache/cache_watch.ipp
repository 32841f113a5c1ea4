#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

CacheWatch::CacheWatch(Observer& observer, std::shared_ptr<ApiClient> client,
                       std::shared_ptr<const WatchSetup> setup, SharedText name)
    : observer_(observer),
      watcher_(Access::make<URLWatcher>(std::move(client),
                                        WatchSubject(std::move(setup), std::move(name)),
                                        static_cast<WatchObserver&>(*this), nullptr)) {
    ++Access::impl(watcher_).metrics().cache_watches;
}

CacheWatch::~CacheWatch() { --Access::impl(watcher_).metrics().cache_watches; }

std::string_view CacheWatch::name() const noexcept {
    return Access::impl(watcher_).subject().object();
}

std::string_view CacheWatch::ns() const noexcept { return Access::impl(watcher_).subject().ns(); }

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
