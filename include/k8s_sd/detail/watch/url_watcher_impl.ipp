#include "k8s_sd/detail/watch/url_watcher_impl.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <boost/asio/post.hpp>
#include <exception>
#include <new>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

URLWatcherImpl::URLWatcherImpl(std::shared_ptr<ApiClient> client, WatchSubject subject,
                               WatchObserver& observer, TaggingObserver* tagger)
    : server_(std::move(client)),
      subject_(std::move(subject)),
      observer_(observer),
      report_(subject_, server_.api().reports, now()),
      intake_(subject_, observer, tagger, report_),
      forms_(subject_, server_, report_),
      machine_(subject_.options(), server_.api().next_seed(), forms_.has_other_encoding(),
               subject_.schema().custom),
      permits_(server_.api().executor, *server_.api().environment.clock, server_.traffic(),
               server_.api().next_seed()),
      idle_timeout_(server_.traffic()->bookmarks),
      exchange_(server_.api().make_connection(), *server_.api().environment.clock,
                subject_.schema(), subject_.options().max_object_bytes, *this, *this) {}

void URLWatcherImpl::start() {
    if (life_ != Life::created) return;
    life_ = Life::started;
    take_server();
    server_.api().add_user(*this);
    const auto self = shared_from_this();  // the observer may drop the watcher
    machine_.know(forms_.known());
    perform(machine_.start());
}

void URLWatcherImpl::stop() noexcept {
    if (stopped()) return;
    life_ = Life::stopped;
    server_.api().remove_user(*this);
    intake_.stop();
    exchange_.stop();
    permits_.stop();
    report_.end();
}

void URLWatcherImpl::end_pause() {
    if (stopped() || report_.status().waiting != Waiting::backoff) return;
    const auto self = shared_from_this();  // the observer may drop the watcher
    permits_.end_waits();
    go_on(WatchMachine::Slept{});
    on_status();
}

WatchStatus URLWatcherImpl::status() const {
    WatchStatus status = report_.whole_status();
    status.resource_version = machine_.resource_version();
    return status;
}

void URLWatcherImpl::go_on(const WatchMachine::Outcome& outcome) {
    if (stopped()) return;
    machine_.know(forms_.known());
    perform(machine_.next(outcome, now()));
}

void URLWatcherImpl::perform(const WatchMachine::Step& step) {
    if (stopped()) return;
    std::visit([this](const auto& s) { perform(s); }, step);
}

/// Calls the observer, and throws nothing: the watch goes on whatever the observer throws.
template <class Call>
void URLWatcherImpl::notify(const Call& call) {
    try {
        call();
    } catch (...) {
        if (!problem_) problem_ = std::current_exception();
    }
    if (problem_) rethrow_later();
}

/// The exception leaves a handler of its own. Without memory for it, the next call tries again.
void URLWatcherImpl::rethrow_later() {
    try {
        asio::post(server_.api().executor,
                   [problem = problem_] { std::rethrow_exception(problem); });
        problem_ = nullptr;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): see above
    }
}

void URLWatcherImpl::on_status() {
    if (!stopped()) notify([this] { observer_.on_status(); });
}

void URLWatcherImpl::wait(Waiting waiting, std::optional<Duration> pause) {
    report_.wait(waiting, now(), pause);
}

void URLWatcherImpl::call_after(Duration wait, void (URLWatcherImpl::*method)()) {
    permits_.call_after(wait, [weak = weak_from_this(), method] {
        if (const auto self = weak.lock()) ((*self).*method)();
    });
}

// --- change of the server ------------------------------------------------------------------------

void URLWatcherImpl::on_server_change() {
    permits_.leave_later(weak_from_this(), [this] { leave(); });
}

/// Aborts a request to the old server; other waits check the server themselves afterwards.
void URLWatcherImpl::leave() {
    const bool sent = !server_.searching() && report_.status().waiting != Waiting::credentials;
    if (sent && server_.is_left()) go_to_other_server();
}

void URLWatcherImpl::take_server() {
    if (!server_.take()) return;
    idle_timeout_ = WatchIdleTimeout(server_.traffic()->bookmarks);
}

/// Discards the state of the old server.
void URLWatcherImpl::go_to_other_server() {
    exchange_.discard();
    permits_.cancel();
    intake_.stop_removing();
    intake_.end_body(false);
    forms_.forget();
    take_server();
    go_on(WatchMachine::OtherServer{});
    on_status();
}

/// Asks discovery for the API versions of the kind and switches to the best one.
/// \param lost  the watched version is missing on the server
void URLWatcherImpl::find_version(bool lost, std::function<void(WatchServer::Version)> then) {
    const KindSchema& schema = subject_.schema();
    server_.begin_search();
    server_.api().served_versions.async_get(
        subject_.kind(), schema.older_versions, ApiAbsence::max_query_pause(schema.custom),
        [weak = weak_from_this(), lost, then = std::move(then)](ServedVersions::Answer best) {
            const auto self = weak.lock();
            if (!self || self->stopped()) return;
            self->server_.end_search();
            if (self->server_.is_left()) return self->go_to_other_server();
            const WatchServer::Version version = self->server_.take_version(best, lost);
            self->on_version(version);
            then(version);
            self->on_status();
        });
}

void URLWatcherImpl::on_version(WatchServer::Version version) {
    if (!version.moved) return;
    report_.begin_api_version(server_.api_version());
    go_on(WatchMachine::Moved{});
}

}  // namespace k8s_sd::inline v0::detail

namespace k8s_sd::inline v0 {

URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, WatchQuery query,
                       const WatchOptions& options, WatchObserver& observer)
    : URLWatcher(std::move(client),
                 detail::WatchSubject(std::make_shared<const detail::WatchSetup>(
                     std::move(query), std::make_shared<const WatchOptions>(options),
                     std::make_shared<detail::ObjectMaker>())),
                 observer, nullptr) {}
URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, detail::WatchSubject subject,
                       WatchObserver& observer, detail::TaggingObserver* tagger)
    : impl_(std::make_shared<detail::URLWatcherImpl>(std::move(client), std::move(subject),
                                                     observer, tagger)) {}
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
    impl_->store().objects().for_each(visit);
}
void URLWatcher::for_each_pending(const std::function<void(const ObjectPtr&)>& visit) const {
    for (const ObjectPtr& object : impl_->held()) visit(object);
}

}  // namespace k8s_sd::inline v0
