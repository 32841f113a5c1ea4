#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0 {

void validate(const WarmStart& options) {
    const std::pair<const char*, Duration> times[] = {{"server_timeout", options.server_timeout},
                                                      {"max_age", options.max_age},
                                                      {"write_interval", options.write_interval}};
    for (const auto& [field, time] : times) {
        if (time < Duration::zero()) {
            throw ConfigError(std::string("warm_start.") + field, "must not be negative");
        }
    }
    if (options.max_bytes == 0) {
        throw ConfigError("warm_start.max_bytes", "must be greater than zero");
    }
}

namespace detail {

namespace {

/// The destruction of a context waits at most this long for the last write.
constexpr Duration last_write_timeout = std::chrono::seconds(2);

}  // namespace

WarmTargets::WarmTargets(const GroupWatcher& watcher, const ResolvedConfig& config, Role role,
                         const WarmStart& options, std::weak_ptr<GroupWatcher::Observer> observer)
    : WarmTargets(watcher, role, options, digest_of_config(config, role, options),
                  std::move(observer)) {}

WarmTargets::WarmTargets(const GroupWatcher& watcher, Role role, const WarmStart& options,
                         const Digest& config, std::weak_ptr<GroupWatcher::Observer> observer)
    : strand_(watcher.get_executor()),
      clock_(watcher.environment().clock),
      server_timeout_(options.server_timeout),
      role_(role),
      source_(GroupRegistry::impl_of(watcher)),
      observer_(std::move(observer)),
      store_(strand_, watcher.environment().file_calls, options, config),
      report_(watcher.environment().metrics, watcher.environment().logger,
              "the snapshot of role " + std::string(to_string(role)) + " in " + options.directory),
      schedule_(options.write_interval, options.max_age,
                watcher.environment().seed + config[0] * 256U + config[1]) {}

void WarmTargets::start() {
    asio::post(strand_, [self = shared_from_this()] { self->load(); });
}

void WarmTargets::stop() noexcept {
    end_post_.post(strand_, [self = shared_from_this()] {
        self->stopped_ = true;
        if (!self->timer_) return;
        if (!self->schedule_.has_changes() && !self->schedule_.writing()) return self->end();
        // Keep run() from returning until the last write is done, but not on a hanging disk.
        self->timer_->expires_at(self->clock_->now() + last_write_timeout, [self] { self->end(); });
        if (!self->schedule_.writing()) self->write();
    });
}

void WarmTargets::end() {
    store_.end();
    timer_.reset();
}

// --- the server of a snapshot --------------------------------------------------------------------

/// The server of a kubeconfig may change at any time.
bool WarmTargets::has_moved() const {
    const auto source = source_.lock();
    return source && source->server() != file_server_;
}

void WarmTargets::note_server() {
    if (const auto source = source_.lock()) server_ = source->server_of_groups(role_);
}

// --- loading the snapshot ------------------------------------------------------------------------

void WarmTargets::load() {
    if (stopped_) return;
    timer_ = clock_->make_timer(strand_);
    if (server_timeout_ == Duration::zero()) {
        awaits_server_ = false;
    } else {
        timer_->expires_at(clock_->now() + server_timeout_, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->awaits_server_ = false;
            self->deliver_snapshot();
        });
    }
    read_file();
}

void WarmTargets::read_file() {
    const auto source = source_.lock();
    if (!source) return;
    file_server_ = source->server();
    store_.async_load(file_server_,
                      if_alive(weak_from_this(),
                               [](WarmTargets& self, const std::shared_ptr<LoadedGroups>& loaded) {
                                   self.on_loaded(std::move(*loaded));
                               }));
}

void WarmTargets::on_loaded(LoadedGroups loaded) {
    store_.end();
    if (live_ || stopped_) return;
    if (has_moved()) return read_file();
    if (!loaded.problem.empty()) {
        if (loaded.is_missing) return report_.on_missing();
        return report_.on_ignored(loaded.problem);
    }
    loaded_ = std::move(loaded);
    deliver_snapshot();
}

void WarmTargets::deliver_snapshot() {
    if (awaits_server_ || live_ || !loaded_) return;
    const auto observer = observer_.lock();
    if (!observer) return;
    if (has_moved()) {
        loaded_.reset();
        return read_file();
    }
    for (const TargetGroupPtr& group : loaded_->groups) groups_.apply({group, nullptr, false});
    report_.on_delivered(loaded_->age);
    loaded_.reset();
    delivered_ = true;
    TargetGroupDiff state = full_diff(groups_);
    state.unconfirmed = true;
    observer->on_ready(std::make_shared<const TargetGroupDiff>(std::move(state)));
}

// --- events of the watcher -----------------------------------------------------------------------

void WarmTargets::on_ready(const std::shared_ptr<const TargetGroupDiff>& state) {
    live_ = true;
    loaded_.reset();
    note_server();
    report_.on_live();
    FirstException problem;
    problem.catch_from([&] {
        if (delivered_) return confirm(*state);
        groups_.apply(*state);
        if (const auto observer = observer_.lock()) observer->on_ready(state);
    });
    schedule_.on_change();
    write_later();
    problem.rethrow();
}

/// Reports only the differences to the delivered state.
void WarmTargets::confirm(const TargetGroupDiff& live) {
    TargetGroups now;
    now.apply(live);
    std::vector<GroupChange> changes;
    for (const GroupChange& change : live.updated) {
        TargetGroupPtr before = groups_.find(change.group->source());
        if (before && *before == *change.group) continue;
        changes.push_back({change.group, std::move(before), false});
    }
    groups_.for_each_group([&](const TargetGroupPtr& group) {
        if (!now.find(group->source())) changes.push_back({nullptr, group, false});
    });
    groups_ = std::move(now);
    const auto observer = observer_.lock();
    if (!observer) return;
    FirstException problem;
    if (!changes.empty()) problem.catch_from([&] { observer->on_changes(changes); });
    problem.catch_from([&] { observer->on_confirmed(); });
    problem.rethrow();
}

void WarmTargets::on_changes(const std::vector<GroupChange>& changes) {
    note_server();
    for (const GroupChange& change : changes) groups_.apply(change);
    FirstException problem;
    if (const auto observer = observer_.lock())
        problem.catch_from([&] { observer->on_changes(changes); });
    schedule_.on_change();
    write_later();
    problem.rethrow();
}

void WarmTargets::on_status() {
    note_server();
    if (const auto observer = observer_.lock()) observer->on_status();
}

// --- the next snapshot ---------------------------------------------------------------------------

void WarmTargets::write_later() {
    if (stopped_) return;
    const std::optional<Duration> pause = schedule_.next_pause();
    if (!pause) return;
    timer_->expires_at(clock_->now() + *pause, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->schedule_.on_due();
        self->write();
    });
}

/// Skips the write while a kubeconfig has switched to another server and not everything has been
/// listed there: the groups belong to no single server then.
void WarmTargets::write() {
    if (!stopped_) note_server();
    if (!server_) {
        schedule_.on_change();
        return stopped_ ? end() : write_later();
    }
    schedule_.begin_write();
    std::vector<TargetGroupPtr> groups;
    groups.reserve(groups_.group_count());
    groups_.for_each_group([&](const TargetGroupPtr& group) { groups.push_back(group); });
    store_.async_save(*server_, std::move(groups),
                      if_alive(weak_from_this(), &WarmTargets::on_written));
}

void WarmTargets::on_written(const std::string& problem) {
    store_.end();
    schedule_.end_write(problem.empty());
    report_.on_written(problem);
    if (stopped_) {
        if (schedule_.has_changes() && problem.empty()) return write();
        return end();
    }
    write_later();
}

}  // namespace detail
}  // namespace k8s_sd::inline v0
