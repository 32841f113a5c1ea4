#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

WatchQuery checked(WatchQuery query) {
    if (!query.ns.empty()) detail::check_namespace_name("namespace", query.ns);
    return query;
}

}  // namespace

URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, WatchQuery query,
                       const WatchOptions& options, WatchObserver& observer)
    : URLWatcher(std::move(client), std::move(query), options, observer,
                 detail::WatchMaking{std::make_shared<detail::ObjectMaker>()}) {}
URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, WatchQuery query,
                       const WatchOptions& options, WatchObserver& observer,
                       detail::WatchMaking making)
    : impl_(std::make_shared<detail::URLWatcherImpl>(std::move(client), checked(std::move(query)),
                                                     options, observer, std::move(making))) {}
URLWatcher::~URLWatcher() { impl_->stop(); }

void URLWatcher::start() { impl_->start(); }
bool URLWatcher::synced() const noexcept { return impl_->synced(); }
bool URLWatcher::knows_present_server() const noexcept { return impl_->knows_present_server(); }
WatchStatus URLWatcher::status() const { return impl_->status(); }
const Object* URLWatcher::find(std::string_view ns, std::string_view name) const {
    return impl_->store().find(ns, name);
}
bool URLWatcher::is_unread(std::string_view ns, std::string_view name) const {
    return impl_->is_unread(ns, name);
}
std::size_t URLWatcher::size() const noexcept { return impl_->store().size(); }
void URLWatcher::forget(std::string_view ns, std::string_view name) { impl_->forget(ns, name); }
void URLWatcher::adopt(ObjectPtr object) { impl_->adopt(std::move(object)); }
void URLWatcher::for_each(const std::function<void(const ObjectPtr&)>& visit) const {
    for (const ObjectPtr& object : impl_->store().objects()) visit(object);
}
void URLWatcher::for_each_pending(const std::function<void(const ObjectPtr&)>& visit) const {
    for (const ObjectPtr& object : impl_->held()) visit(object);
}

}  // namespace k8s_sd::inline v0
