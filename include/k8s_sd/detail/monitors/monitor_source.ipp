#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/monitors/monitor_plan.hpp"
#include "k8s_sd/detail/monitors/monitor_table.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/monitors/monitor_access.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

void check_names(const char* field, const std::vector<std::string>& namespaces) {
    for (const std::string& ns : namespaces) {
        if (detail::is_dns_label(ns)) continue;
        throw ConfigError(std::string("MonitorSourceConfig::") + field,
                          detail::printable(ns) + " is no name of a namespace");
    }
}

void check_owner_name(const MonitorOwnerInput& input) {
    const auto* object = std::get_if<MonitorOwnerObject>(&input);
    if (!object) return;
    if (!detail::is_dns_label(object->object_namespace) ||
        !detail::is_dns_subdomain(object->name)) {
        throw ConfigError("MonitorSourceConfig::owner",
                          "must name a namespace and an object, such as monitoring and k8s");
    }
}

const MonitorSourceConfig& checked(const MonitorSourceConfig& config) {
    validate(config);
    return config;
}

/// After failures of files only: the watches themselves retry everything else.
constexpr Duration retry_pause = std::chrono::seconds(5);

}  // namespace

void validate(const MonitorSourceConfig& config) {
    check_names("allow_namespaces", config.allow_namespaces);
    check_names("deny_namespaces", config.deny_namespaces);
    if (!config.allow_namespaces.empty() && !config.deny_namespaces.empty()) {
        throw ConfigError("MonitorSourceConfig::deny_namespaces",
                          "excludes allow_namespaces: remove one of them");
    }
    check_owner_name(config.owner);
    for (const Duration time : {config.sync_timeout, config.reference_timeout}) {
        if (time < Duration::zero()) {
            throw ConfigError("MonitorSourceConfig", "a time must not be negative");
        }
    }
}

/// Watches on its strand; the table, and what status() reads, are guarded by the mutex.
class MonitorSource::Impl final : public detail::RunState {
 public:
    Impl(const executor_type& executor, const MonitorSourceConfig& config, Callback callback)
        : Impl(executor, checked(config), std::move(callback),
               detail::ContextEnvironment::of(executor)) {}

    void set_owner(MonitorOwnerInput input) {
        check_owner_name(input);
        asio::post(strand_, [self = self_as(this), input = std::move(input)]() mutable {
            if (self->cancelled()) return;
            self->owner_ = std::move(input);
            {
                const std::lock_guard lock(self->mutex_);
                self->is_owner_of_vm_ = detail::is_owner_of_vm(self->owner_);
            }
            if (self->timer_) self->begin_owner();
        });
    }

    std::vector<MonitorJobPtr> jobs() const {
        const std::lock_guard lock(mutex_);
        return synced_ ? table_.jobs() : std::vector<MonitorJobPtr>();
    }
    MonitorStatus status() const {
        const std::lock_guard lock(mutex_);
        MonitorStatus status = watches_status_;
        status.synced = synced_;
        table_.add_status(status);
        if (!table_.owner()) status.of_vm = is_owner_of_vm_;
        return status;
    }
    std::vector<MonitorObjectStatus> objects() const {
        const std::lock_guard lock(mutex_);
        return table_.objects(std::nullopt, std::numeric_limits<std::size_t>::max());
    }
    std::vector<MonitorObjectStatus> objects(const std::optional<MonitorName>& after,
                                             std::size_t max) const {
        const std::lock_guard lock(mutex_);
        return table_.objects(after, max);
    }
    std::optional<MonitorObjectStatus> object(MonitorKind kind, std::string_view ns,
                                              std::string_view name) const {
        const std::lock_guard lock(mutex_);
        return table_.object(kind, ns, name);
    }

 private:
    template <class T>
    struct Watch {
        std::optional<Watcher<T>> watcher;
        std::uint64_t number = 0;  ///< of the watcher: late calls of earlier ones are ignored
        bool listed = false;
        bool absent = false;  ///< the server has no such resource
        DiscovererStatus status{};
        /// Whether its objects are known, as far as they can be.
        bool ready() const noexcept { return watcher ? listed || absent : !status.error; }
    };
    struct Followed {
        std::uint64_t number = 0;
        ObjectCache::Subscription subscription;
    };

    Impl(const executor_type& executor, const MonitorSourceConfig& config, Callback callback,
         const detail::ContextEnvironment& environment)
        : RunState(executor, asio::make_strand(executor), environment.clock(), 1),
          strand_(origin()),
          log_(environment.logger()),
          config_(config),
          callback_(std::move(callback)),
          owner_(config.owner),
          is_owner_of_vm_(detail::is_owner_of_vm(config.owner)),
          pace_(config.min_update_interval),
          table_(config) {
        // Fails for an unusable server.
        const Watcher<api::Namespace> probe(strand_, watcher_config(), [](const auto&) {});
    }

    std::weak_ptr<Impl> weak() { return self_as(this); }

    void begin() override {
        asio::post(strand_, [self = self_as(this)] { self->start(); });
    }
    void on_ended() noexcept override {
        post_end(strand_, [self = self_as(this)] { self->stop(); });
    }

    // --- on the strand ------------------------------------------------------------------------

    void start() {
        if (cancelled()) return;
        timer_ = clock().make_timer(strand_);
        retry_timer_ = clock().make_timer(strand_);
        timer_->expires_at(detail::due_after(clock().now(), config_.sync_timeout),
                           detail::if_alive(weak(), [](Impl& self) {
                               self.is_time_up_ = true;
                               self.work_later();
                           }));
        begin_owner();
    }

    void stop() {
        timer_.reset();
        retry_timer_.reset();
        for (auto& watch : kinds_) watch.watcher.reset();
        namespaces_.watcher.reset();
        owner_watch_.watcher.reset();
        followed_.clear();
        for (auto& cache : caches_) cache.reset();
    }

    WatcherConfig watcher_config() const {
        WatcherConfig config;
        config.api_server = config_.api_server;
        config.kubeconfig_file = config_.kubeconfig_file;
        config.kubeconfig_context = config_.kubeconfig_context;
        config.watch = config_.watch;
        return config;
    }

    /// \param on_diff  called with this object and each diff, under the mutex
    /// \returns false if it cannot begin now
    template <class T, class OnDiff>
    bool begin_watch(Watch<T>& watch, const WatcherConfig& config, const OnDiff& on_diff) {
        end_watch(watch);
        try {
            make_watcher(watch, config, on_diff);
            return true;
        } catch (const ConfigError& e) {  // files of the server's configuration are unreadable
            watch.status.error = errc::credentials_unavailable;
            watch.status.message = e.what();
            retry_later();
            return false;
        }
    }

    void retry_later() {
        retry_timer_->expires_at(detail::due_after(clock().now(), retry_pause),
                                 detail::if_alive(weak(), &Impl::retry));
    }

    void retry() {
        if (cancelled() || !timer_) return;
        if (owner_failed_) begin_owner();
        for (const auto& object : std::exchange(unopened_, {})) begin_object(object);
        work_later();
    }

    template <class T, class OnDiff>
    void make_watcher(Watch<T>& watch, const WatcherConfig& config, const OnDiff& on_diff) {
        const std::uint64_t number = watch.number;
        // The watch is a member of this object.
        watch.watcher.emplace(strand_, config,
                              [weak = weak(), &watch, number, on_diff](const ObjectDiff<T>& diff) {
                                  const auto self = weak.lock();
                                  if (!self || self->cancelled() || watch.number != number) return;
                                  watch.listed = true;
                                  {
                                      const std::lock_guard lock(self->mutex_);
                                      on_diff(*self, diff);
                                  }
                                  self->work_later();
                              });
        watch.watcher->set_status_callback(
            [weak = weak(), &watch, number](const DiscovererStatus& status) {
                const auto self = weak.lock();
                if (!self || self->cancelled() || watch.number != number) return;
                watch.status = status;
                watch.absent = !watch.listed && status.error == errc::not_found;
                self->work_later();
            });
        watch.watcher->async_run(asio::detached);
    }

    template <class T>
    static void end_watch(Watch<T>& watch) {
        watch.watcher.reset();
        ++watch.number;
        watch.listed = watch.absent = false;
        watch.status = {};
    }

    void begin_owner() {
        const auto* object = std::get_if<MonitorOwnerObject>(&owner_);
        if (!object) {
            end_watch(owner_watch_);
            {
                const std::lock_guard lock(mutex_);
                if (const auto* owner = std::get_if<MonitorOwner>(&owner_)) {
                    table_.set_owner(*owner);
                } else {
                    table_.set_owner(std::get<MonitorOwnerDocument>(owner_));
                }
            }
            return work_later();
        }
        WatcherConfig config = watcher_config();
        config.namespaces = {object->object_namespace};
        config.field_selector = "metadata.name=" + object->name;
        config.resource = {.group = std::string(detail::group_of(object->kind)),
                           .kind = std::string(to_string(object->kind))};
        config.fields = {"kind", "apiVersion", "spec"};
        const auto on_diff = [kind = object->kind](Impl& self, const ObjectDiff<Generic>& diff) {
            std::shared_ptr<const Generic> now;
            if (!diff.added.empty()) now = diff.added.back();
            if (!diff.changed.empty()) now = diff.changed.back().after;
            detail::MonitorTable::OwnerInput input;
            if (now) input.emplace(document_of(kind, *now));
            self.table_.set_owner(std::move(input));
        };
        owner_failed_ = !begin_watch(owner_watch_, config, on_diff);
    }

    static MonitorOwnerDocument document_of(MonitorOwnerKind kind, const Generic& object) {
        boost::json::object document = object.content;
        document["kind"] = to_string(kind);  // items of a list may lack it
        document["metadata"] = boost::json::object{{"name", object.metadata.name},
                                                   {"namespace", object.metadata.namespace_}};
        return {std::move(document), std::string(object.metadata.namespace_)};
    }

    void work_later() { posted_.request(strand_, weak(), &Impl::work); }

    void work() {
        if (cancelled() || !timer_) return;
        constexpr std::size_t monitors_at_once = 32;
        std::vector<std::string> log;
        detail::WatchedReferences::Changes changes;
        detail::MonitorPlan plan;
        bool again = false;
        {
            const std::lock_guard lock(mutex_);
            table_.work(monitors_at_once);
            log = table_.take_log();
            changes = table_.take_watch_changes();
            if (const auto& owner = table_.owner()) {
                plan = detail::plan_of(*owner, config_.allow_namespaces);
            }
            again = table_.has_work();
        }
        follow(plan);
        follow(changes);
        write_log(log);
        {
            const std::lock_guard lock(mutex_);
            set_watches_status();
            again = table_.has_work();
            if (!synced_) synced_ = is_synced(again);
            if (has_news() && !cancelled()) wake();
        }
        if (again) work_later();
    }

    /// Under the mutex.
    bool is_synced(bool has_work) const {
        const bool needs_object = std::holds_alternative<MonitorOwnerObject>(owner_);
        const bool is_known = !needs_object || owner_watch_.listed || owner_watch_.absent;
        if (!is_known || (!table_.owner() && !table_.lacks_owner())) return false;
        if (has_work) return false;
        if (is_time_up_) return true;
        bool ready = !table_.waits() && namespaces_.ready();
        for (const auto& watch : kinds_) ready = ready && watch.ready();
        return ready;
    }

    void follow(const detail::MonitorPlan& plan) {
        if (plan.namespaces != plan_.namespaces && follow_namespaces(plan.namespaces)) {
            plan_.namespaces = plan.namespaces;
        }
        for (std::size_t index = 0; index < monitor_kind_count; ++index) {
            if (plan.kinds[index] == plan_.kinds[index]) continue;
            const auto kind = static_cast<MonitorKind>(index);
            if (follow(kind, plan.kinds[index])) plan_.kinds[index] = plan.kinds[index];
        }
    }

    // Functions for one watch return whether it is as wanted.

    bool follow_namespaces(bool on) {
        if (!on) {
            end_watch(namespaces_);
            const std::lock_guard lock(mutex_);
            table_.forget_namespaces();
            return true;
        }
        WatcherConfig config = watcher_config();
        config.fields = {"metadata.labels"};
        return begin_watch(
            namespaces_, config,
            [](Impl& self, const ObjectDiff<api::Namespace>& diff) { self.table_.apply(diff); });
    }

    bool follow(MonitorKind kind, const std::optional<std::vector<std::string>>& namespaces) {
        Watch<Generic>& watch = kinds_[static_cast<std::size_t>(kind)];
        if (!namespaces) {
            end_watch(watch);
            const std::lock_guard lock(mutex_);
            table_.clear(kind);
            return true;
        }
        WatcherConfig config = watcher_config();
        config.namespaces = *namespaces;
        config.resource = {.group = std::string(api_group_of(kind)),
                           .kind = std::string(to_string(kind))};
        config.fields = {"metadata.labels", "metadata.deletionTimestamp", "spec"};
        return begin_watch(watch, config, [kind](Impl& self, const ObjectDiff<Generic>& diff) {
            self.table_.apply(kind, diff);
        });
    }

    // --- Secrets and ConfigMaps -----------------------------------------------------------------

    ObjectCache& cache_of(MonitorReference::Kind kind) {
        auto& cache = caches_[static_cast<std::size_t>(kind)];
        if (!cache) {
            ObjectCacheConfig config;
            config.kind = kind == MonitorReference::Kind::secret ? Kind::secret : Kind::configmap;
            config.api_server = config_.api_server;
            config.kubeconfig_file = config_.kubeconfig_file;
            config.kubeconfig_context = config_.kubeconfig_context;
            config.get_timeout = config_.reference_timeout;
            cache.emplace(strand_, config);
        }
        return *cache;
    }

    void follow(const detail::WatchedReferences::Changes& changes) {
        // An object may have been released and requested again.
        for (const auto& object : changes.end) {
            followed_.erase(object);
            unopened_.erase(object);
        }
        for (const auto& object : changes.begin) begin_object(object);
    }

    void begin_object(const detail::ReferencedObject& object) {
        ObjectCache* cache = nullptr;
        try {
            cache = &cache_of(object.kind);
        } catch (const ConfigError& e) {  // as in begin_watch()
            unopened_.insert(object);
            retry_later();
            const std::lock_guard lock(mutex_);
            return table_.set_failure(object, e.what());
        }
        try {
            subscribe(*cache, object);
        } catch (const ConfigError&) {  // no object can have this name
            followed_.erase(object);
            const std::lock_guard lock(mutex_);
            table_.set_value(object, nullptr);
        }
    }

    /// \throws ConfigError
    void subscribe(ObjectCache& cache, const detail::ReferencedObject& object) {
        const std::uint64_t number = ++followed_number_;
        Followed& followed = followed_[object];
        followed.number = number;
        followed.subscription = cache.subscribe(
            object.ns, object.name,
            detail::if_alive(weak(), [object, number](Impl& self, const ObjectPtr& value) {
                self.on_value(object, number, as_data_object(value));
            }));
        // A subscription does not report failures.
        cache.async_get(
            object.ns, object.name,
            asio::bind_executor(strand_,
                                detail::if_alive(weak(), [object, number](Impl& self, error_code ec,
                                                                          const ObjectPtr&) {
                                    if (ec) self.on_failure(object, number, ec);
                                })));
    }

    bool is_followed(const detail::ReferencedObject& object, std::uint64_t number) const {
        const auto found = followed_.find(object);
        return !cancelled() && found != followed_.end() && found->second.number == number;
    }

    void on_value(const detail::ReferencedObject& object, std::uint64_t number,
                  DataObjectPtr value) {
        if (!is_followed(object, number)) return;
        {
            const std::lock_guard lock(mutex_);
            table_.set_value(object, std::move(value));
        }
        work_later();
    }

    void on_failure(const detail::ReferencedObject& object, std::uint64_t number, error_code ec) {
        // The subscription reports an absent object.
        if (ec == errc::object_not_found || !is_followed(object, number)) return;
        std::string problem;
        if (const auto status = cache_of(object.kind).status(object.ns, object.name)) {
            problem = status->message;
        }
        if (problem.empty()) problem = in_words(ec);
        {
            const std::lock_guard lock(mutex_);
            table_.set_failure(object, problem);
        }
        work_later();
    }

    // --- reports ------------------------------------------------------------------------------

    /// Everybody with the right to create monitors can cause lines.
    void write_log(const std::vector<std::string>& lines) {
        constexpr std::size_t max_lines = 50;
        const TimePoint now = clock().now();
        if (!log_minute_ || now - *log_minute_ >= std::chrono::minutes(1)) {
            if (log_lines_ > max_lines) {
                log_.log(LogLevel::warning, LogEvent::monitor_refused,
                         std::to_string(log_lines_ - max_lines) +
                             " more refused monitors in the last minute");
            }
            log_minute_ = now;
            log_lines_ = 0;
        }
        for (const std::string& line : lines) {
            if (++log_lines_ > max_lines) continue;
            log_.log(LogLevel::warning, LogEvent::monitor_refused, line);
        }
    }

    template <class T>
    static MonitorWatchState state_of(const Watch<T>& watch) {
        if (!watch.watcher) {
            return watch.status.error ? MonitorWatchState::failing : MonitorWatchState::off;
        }
        if (watch.absent) return MonitorWatchState::absent;
        if (watch.status.error) return MonitorWatchState::failing;
        return watch.listed ? MonitorWatchState::synced : MonitorWatchState::waiting;
    }

    /// Under the mutex.
    void set_watches_status() {
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            watches_status_.kinds[i].watch = state_of(kinds_[i]);
            watches_status_.kinds[i].message = kinds_[i].status.message;
        }
        watches_status_.namespaces = namespaces_.status.message;
        watches_status_.owner_watch = owner_watch_.status.message;
    }

    // --- delivery -----------------------------------------------------------------------------

    /// Under the mutex.
    bool has_news() const { return synced_ && (!is_delivered_ || table_.has_news()); }

    bool deliver_next(TimePoint now) override {
        MonitorDiff diff;
        {
            const std::lock_guard lock(mutex_);
            if (cancelled() || !has_news() || pace_.due(now) > now) return false;
            diff = take_news(now);
            // Changes may have been reverted.
            if (!diff.full && diff.updated.empty() && diff.removed.empty()) return false;
            pace_.called(now);
        }
        callback_(diff);
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        if (!has_news()) return std::nullopt;
        return std::max(pace_.due(now), retry_at_);
    }

    /// Without memory, the news are taken after a pause.
    MonitorDiff take_news(TimePoint now) try {
        MonitorDiff diff = table_.take_news();
        is_delivered_ = true;
        return diff;
    } catch (...) {
        retry_at_ = detail::due_after(now, detail::Reminder::pause);
        throw;
    }

    const asio::any_io_executor strand_;
    const Logger log_;
    const MonitorSourceConfig config_;
    const Callback callback_;

    // Used on the strand only.
    MonitorOwnerInput owner_;
    bool is_owner_of_vm_;           ///< guarded by the mutex
    std::unique_ptr<Timer> timer_;  ///< null: not begun, or ended
    bool is_time_up_ = false;       ///< sync_timeout has passed
    std::unique_ptr<Timer> retry_timer_;
    bool owner_failed_ = false;  ///< the watch of its object could not begin
    detail::PostedCall posted_;
    detail::MonitorPlan plan_;
    std::array<Watch<Generic>, monitor_kind_count> kinds_;
    Watch<api::Namespace> namespaces_;
    Watch<Generic> owner_watch_;
    std::array<std::optional<ObjectCache>, 2> caches_;
    std::map<detail::ReferencedObject, Followed> followed_;
    std::set<detail::ReferencedObject> unopened_;  ///< without a cache: to be retried
    std::uint64_t followed_number_ = 0;
    std::optional<TimePoint> log_minute_;
    std::size_t log_lines_ = 0;

    // Guarded by the mutex.
    detail::Pace pace_;
    detail::MonitorTable table_;
    MonitorStatus watches_status_;
    bool synced_ = false;
    bool is_delivered_ = false;
    TimePoint retry_at_ = TimePoint::min();  ///< of news that could not be taken
};

MonitorSource::MonitorSource(executor_type executor, const MonitorSourceConfig& config,
                             Callback callback) {
    detail::check_host_executor(executor, "MonitorSource");
    detail::check_callback(callback, "MonitorSource");
    impl_ = std::make_shared<Impl>(executor, config, std::move(callback));
}

MonitorSource& MonitorSource::operator=(MonitorSource&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

MonitorSource::~MonitorSource() { cancel(); }

MonitorSource::executor_type MonitorSource::get_executor() const noexcept {
    return impl_->executor();
}

void MonitorSource::run(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->run(std::move(handler));
}

void MonitorSource::set_owner(MonitorOwnerInput owner) { impl_->set_owner(std::move(owner)); }

void MonitorSource::cancel() noexcept {
    if (impl_) impl_->cancel();
}

std::vector<MonitorJobPtr> MonitorSource::jobs() const { return impl_->jobs(); }
MonitorStatus MonitorSource::status() const { return impl_->status(); }
std::vector<MonitorObjectStatus> MonitorSource::objects() const { return impl_->objects(); }
std::vector<MonitorObjectStatus> MonitorSource::objects(const std::optional<MonitorName>& after,
                                                        std::size_t max) const {
    return impl_->objects(after, max);
}
std::optional<MonitorObjectStatus> MonitorSource::object(MonitorKind kind,
                                                         std::string_view object_namespace,
                                                         std::string_view name) const {
    return impl_->object(kind, object_namespace, name);
}

}  // namespace k8s_sd::inline v0
