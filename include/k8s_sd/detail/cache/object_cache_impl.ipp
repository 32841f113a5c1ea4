#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/cache/object_cache_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr int cache_calls_per_batch = 64;
constexpr Duration idle_check_interval = std::chrono::minutes(1);
constexpr Duration min_max_idle = std::chrono::minutes(1);
/// How often an immutable object is reread, to detect that it was recreated. The interval grows
/// when more objects are due than max_concurrent_rechecks a check allows.
constexpr Duration immutable_recheck_interval = std::chrono::minutes(15);
constexpr std::size_t max_concurrent_rechecks = 8;
/// Minimum age of a value before it is read again, however often a credential is refused.
constexpr Duration min_read_interval = std::chrono::seconds(10);

void check_cache_config(const ObjectCacheConfig& config) {
    if (config.get_timeout < Duration{}) {
        throw ConfigError("get_timeout", "must not be negative; 0: do not wait");
    }
    if (config.max_idle < min_max_idle) {
        throw ConfigError("max_idle", "must be at least one minute");
    }
}

// Resolves the server like discovery does.
ApiServerConfig cache_server_of(const ObjectCacheConfig& config, const InClusterFiles& files) {
    check_cache_config(config);
    DiscoveryConfig discovery;
    discovery.api_server = config.api_server;
    discovery.kubeconfig_file = config.kubeconfig_file;
    discovery.kubeconfig_context = config.kubeconfig_context;
    discovery.watch = config.watch;
    return resolve(discovery, files).scope.api_server;
}

CacheNamespace::Settings cache_settings_of(const asio::any_io_executor& executor,
                                           const asio::any_io_executor& strand,
                                           const ObjectCacheConfig& config) {
    auto& environment = ContextEnvironment::of(executor);
    CacheNamespace::Settings settings;
    settings.watches.client = make_shared_client(
        strand, cache_server_of(config, environment.in_cluster()), environment.with_new_seed());
    settings.watches.maker = std::make_shared<ObjectMaker>();
    settings.watches.metrics = environment.metrics();
    settings.watches.kind = config.kind;
    settings.watches.options = std::make_shared<const WatchOptions>(config.watch);
    settings.clock = environment.clock();
    settings.collection_threshold = config.collection_threshold;
    settings.max_idle = config.max_idle;
    return settings;
}

}  // namespace

ObjectCacheImpl::ObjectCacheImpl(const executor_type& executor, const ObjectCacheConfig& config)
    : RunState(executor, make_own_strand(executor), ContextEnvironment::of(executor).clock(),
               cache_calls_per_batch),
      strand_(origin()),
      get_timeout_(config.get_timeout),
      settings_(cache_settings_of(executor, strand_, config)) {}

// --- from any thread -----------------------------------------------------------------------------

template <class Task>
void ObjectCacheImpl::on_strand(Task task) {
    asio::post(strand_, [self = self_as(this), task = std::move(task)]() mutable { task(*self); });
}

void ObjectCacheImpl::check_name(std::string_view ns, std::string_view name) const {
    const Resource& resource = resource_of(settings_.watches.kind);
    const std::string plural(resource.plural);
    if (!resource.namespaced && !ns.empty()) {
        throw ConfigError("namespace", plural + " have no namespaces; leave it empty");
    }
    if (resource.namespaced) check_namespace_name("namespace", ns);
    check_object_name("name", name, plural);
}

void ObjectCacheImpl::add_reference(std::string ns, std::string name) {
    on_strand([ns = std::move(ns), name = std::move(name)](ObjectCacheImpl& self) {
        if (self.cancelled()) return;
        auto place = self.namespaces_.find(ns);
        if (place == self.namespaces_.end()) {
            const std::lock_guard lock(self.mutex_);
            place = self.namespaces_.try_emplace(ns, ns, self.settings_, self, self.mutex_).first;
        }
        place->second.add_reference(name);
        self.wake_for_idle();
    });
}

void ObjectCacheImpl::remove_reference(std::string ns, std::string name) {
    on_strand([ns = std::move(ns), name = std::move(name)](ObjectCacheImpl& self) {
        if (CacheEntry* entry = self.find(ns, name)) entry->home.remove_reference(name);
    });
}

void ObjectCacheImpl::read_again(std::string ns, std::string name) {
    on_strand([ns = std::move(ns), name = std::move(name)](ObjectCacheImpl& self) {
        CacheEntry* const entry = self.find(ns, name);
        if (entry == nullptr) return;
        if (self.settings_.clock->now() - entry->read_at < min_read_interval) return;
        entry->home.doubt(*entry);
    });
}

void ObjectCacheImpl::get(std::string ns, std::string name, Handler handler) {
    const auto abort = [weak = weak()](Get get) {
        const auto self = weak.lock();
        if (!self) return;
        self->on_strand([get = std::move(get)](ObjectCacheImpl& impl) {
            impl.give_up(get, asio::error::operation_aborted);
        });
    };
    const auto get = std::make_shared<CacheGet>(std::move(ns), std::move(name), abort);
    get->begin(std::move(handler), executor());
    on_strand([get](ObjectCacheImpl& self) { self.start(get); });
}

void ObjectCacheImpl::follow(std::string ns, std::string name, Follower follower) {
    on_strand([ns = std::move(ns), name = std::move(name), follower](ObjectCacheImpl& self) {
        CacheEntry* const entry = self.find(ns, name);
        if (entry == nullptr || follower->cancelled) return;
        entry->followers.push_back(follower);
        entry->home.touch(*entry);
        if (entry->is_awaited()) return;
        self.notify(follower, entry->value);
        entry->home.on_read(*entry);
    });
}

void ObjectCacheImpl::unfollow(std::string ns, std::string name, Follower follower) {
    on_strand([ns = std::move(ns), name = std::move(name), follower](ObjectCacheImpl& self) {
        CacheEntry* const entry = self.find(ns, name);
        if (entry == nullptr || entry->followers.erase(follower) == 0) return;
        entry->home.touch(*entry);
    });
}

void ObjectCacheImpl::on_ended() noexcept {
    post_end(strand_, [self = self_as(this)] { self->stop(); });
}

void ObjectCacheImpl::stop() {
    impl_of(*settings_.watches.client).remove_user(*this);
    idle_timer_.reset();
    changed_.clear();
    for (auto& [ns, objects] : namespaces_) {
        objects.for_each([this](CacheEntry& entry) {
            for (const Get& get : entry.gets.take()) {
                get->complete(asio::error::operation_aborted);
            }
            for (const Follower& follower : entry.followers) forget(follower);
        });
    }
    // Their destructors run host code, and must not run under the mutex.
    std::map<std::string, CacheNamespace, std::less<>> ended;
    std::deque<Follower> undelivered;
    const std::lock_guard lock(mutex_);
    queue_.swap(undelivered);
    namespaces_.swap(ended);
}

// --- reading -------------------------------------------------------------------------------------

CacheEntry* ObjectCacheImpl::find(std::string_view ns, std::string_view name) {
    const auto place = namespaces_.find(ns);
    return place == namespaces_.end() ? nullptr : place->second.find(name);
}

void ObjectCacheImpl::start(const Get& get) {
    if (cancelled()) return get->complete(asio::error::operation_aborted);
    CacheEntry* const entry = find(get->ns, get->name);
    if (entry == nullptr || entry->references == 0) return get->complete(errc::not_referenced);
    entry->home.touch(*entry);
    if (!entry->is_awaited()) {
        answer(*entry, get);
        return entry->home.on_read(*entry);
    }
    if (entry->is_denied()) return get->complete(errc::forbidden);
    entry->gets.push_back(get);
    get->timer = settings_.clock->make_timer(strand_);
    get->timer->expires_at(due_after(settings_.clock->now(), get_timeout_),
                           [weak = weak(), waiting = std::weak_ptr(get)] {
                               const auto self = weak.lock();
                               const auto late = waiting.lock();
                               if (self && late) self->give_up(late, errc::not_synced);
                           });
}

void ObjectCacheImpl::give_up(const Get& get, error_code ec) {
    const CacheEntry* known = nullptr;
    if (CacheEntry* entry = find(get->ns, get->name)) {
        entry->gets.erase(get);
        if (entry->doubted && ec == errc::not_synced) known = entry;
    }
    known ? answer(*known, get) : get->complete(ec);
}

void ObjectCacheImpl::answer(const CacheEntry& entry, const Get& get) {
    get->complete(entry.value ? error_code() : errc::object_not_found, entry.value);
}

void ObjectCacheImpl::on_value(CacheEntry& entry) {
    const bool read = !entry.gets.empty() || !entry.followers.empty();
    for (const Get& get : entry.gets.take()) answer(entry, get);
    for (const Follower& follower : entry.followers) notify(follower, entry.value);
    if (read) entry.home.on_read(entry);
}

void ObjectCacheImpl::on_denied(CacheEntry& entry) {
    for (const Get& get : entry.gets.take()) get->complete(errc::forbidden);
}

void ObjectCacheImpl::on_dropped(CacheEntry& entry) {
    for (const Get& get : entry.gets.take()) get->complete(errc::not_referenced);
}

/// Reread the unwatched values: they come from the previous server. Watches reconnect themselves.
void ObjectCacheImpl::on_server_change() {
    for (auto& [ns, objects] : namespaces_)
        objects.for_each([](CacheEntry& entry) { entry.home.doubt(entry); });
}

// --- deliveries to hosts -------------------------------------------------------------------------

void ObjectCacheImpl::notify(const Follower& follower, const ObjectPtr& value) {
    const std::lock_guard lock(mutex_);
    follower->newest = value;
    if (std::exchange(follower->queued, true)) return;
    queue_.push_back(follower);
    wake();
}

// A subscription may outlive the cache; its data must not.
void ObjectCacheImpl::forget(const Follower& follower) {
    {
        const std::lock_guard lock(mutex_);
        follower->newest.reset();
    }
    asio::post(delivery_strand(), [follower] { follower->delivered.reset(); });
}

bool ObjectCacheImpl::deliver_next(TimePoint) {
    ObjectPtr newest;
    const Follower follower = take_next(newest);
    if (!follower || cancelled()) return false;
    if (follower->cancelled) return true;
    if (follower->has_delivered && CacheEntry::same(newest, follower->delivered)) return true;
    follower->has_delivered = true;
    follower->delivered = newest;
    follower->callback(newest);
    return true;
}

ObjectCacheImpl::Follower ObjectCacheImpl::take_next(ObjectPtr& newest) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return nullptr;
    Follower follower = std::move(queue_.front());
    queue_.pop_front();
    follower->queued = false;
    newest.swap(follower->newest);
    return follower;
}

std::optional<TimePoint> ObjectCacheImpl::next_due(TimePoint now) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    return now;
}

// --- periodic work on the strand -----------------------------------------------------------------

void ObjectCacheImpl::on_update_due(CacheNamespace& objects) {
    changed_.insert(&objects);
    // Post, so that one update handles all requests of the current handler.
    next_update_.request(strand_, weak(), &ObjectCacheImpl::update);
}

void ObjectCacheImpl::update() {
    for (CacheNamespace* objects : std::exchange(changed_, {})) objects->update();
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(namespaces_, [this](const auto& item) {
            return item.second.empty() && !changed_.contains(&item.second);
        });
    }
    if (!namespaces_.empty() || !idle_timer_) return;
    impl_of(*settings_.watches.client).remove_user(*this);
    idle_timer_->cancel();  // let an io_context without other work return from run()
    idle_awake_ = false;
}

void ObjectCacheImpl::wake_for_idle() {
    if (std::exchange(idle_awake_, true)) return;
    impl_of(*settings_.watches.client).add_user(*this);
    if (!idle_timer_) idle_timer_ = settings_.clock->make_timer(strand_);
    idle_timer_->expires_at(settings_.clock->now() + idle_check_interval, [weak = weak()] {
        const auto self = weak.lock();
        if (!self || self->cancelled()) return;
        self->idle_awake_ = false;
        for (auto& [ns, objects] : self->namespaces_) objects.tidy();
        self->recheck_immutable();
        if (!self->namespaces_.empty()) self->wake_for_idle();
    });
}

/// Rereads the immutable values with the oldest reads.
void ObjectCacheImpl::recheck_immutable() {
    const TimePoint now = settings_.clock->now();
    std::vector<CacheEntry*> due;
    for (auto& [ns, objects] : namespaces_) {
        objects.for_each([&](CacheEntry& entry) {
            const bool old = now - entry.read_at >= immutable_recheck_interval;
            if (entry.state == CachedState::immutable && old) due.push_back(&entry);
        });
    }
    const std::size_t count = std::min(due.size(), max_concurrent_rechecks);
    std::partial_sort(
        due.begin(), due.begin() + static_cast<std::ptrdiff_t>(count), due.end(),
        [](const CacheEntry* a, const CacheEntry* b) { return a->read_at < b->read_at; });
    for (std::size_t i = 0; i < count; ++i) due[i]->home.doubt(*due[i]);
}

// --- status --------------------------------------------------------------------------------------

ObjectCacheStatus ObjectCacheImpl::status() const {
    ObjectCacheStatus status;
    const std::lock_guard lock(mutex_);
    for (const auto& [ns, objects] : namespaces_) {
        status.namespaces.push_back(objects.status());
        objects.append_status(status.objects);
    }
    return status;
}

std::optional<CachedObjectStatus> ObjectCacheImpl::status(std::string_view ns,
                                                          std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto place = namespaces_.find(ns);
    if (place == namespaces_.end()) return std::nullopt;
    return place->second.status(name);
}

}  // namespace k8s_sd::inline v0::detail
