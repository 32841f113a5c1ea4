#include "k8s_sd/detail/async/if_alive.hpp"
#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/version.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <exception>
#include <stdexcept>
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

WarmStart checked(WarmStart options) {
    validate(options);
    return options;
}

/// The destruction of a context waits at most this long for the last write.
constexpr Duration last_write_timeout = std::chrono::seconds(2);

/// Reports an exception, such as a lack of memory, as a problem.
LoadedGroups load_safely(const SnapshotFiles& files, const SnapshotIdentity& identity,
                         const WarmStart& options) {
    try {
        return load_groups(files, identity, options);
    } catch (const std::exception& e) {
        return {.problem = std::string("the file takes more than there is: ") + e.what()};
    }
}

void add_part(std::string& text, std::string_view part) {
    text += std::to_string(part.size());
    (text += ':') += part;
}

/// Digest of every setting, except the server, that determines the groups and their labels.
Digest digest_of_config(const ResolvedConfig& config, Role role, const WarmStart& options) {
    std::string text;
    const auto add = [&](std::string_view part) { add_part(text, part); };
    add(K8S_SD_VERSION);
    add(to_string(role));
    const Division& division = config.view.division;
    add(to_string(division.by));
    add(std::to_string(division.slots));
    // The share of a fleet member changes; groups stored for another share are filtered by their
    // share keys.
    if (division.by != DivideBy::objects) {
        add(to_string(config.scope.share_role));
        add(config.scope.share.selector());
    }
    for (const std::string& ns : config.scope.namespaces) add(ns);
    for (const Selector& selector : config.scope.selectors) {
        add(to_string(selector.role));
        add(selector.label);
        add(selector.field);
    }
    const AttachMetadata& attach = config.view.attach_metadata;
    for (const bool flag :
         {attach.node, attach.namespace_, attach.deployment, attach.job, attach.cronjob}) {
        add(flag ? "1" : "0");
    }
    add(to_string(config.view.dialect));
    add(to_string(config.view.prometheus_version));
    for (const std::string& annotation : options.annotations) add(annotation);
    return digest_of(text);
}

}  // namespace

WarmTargets::WarmTargets(const GroupWatcher& watcher, const ResolvedConfig& config, Role role,
                         WarmStart options, std::weak_ptr<GroupWatcher::Observer> observer)
    : strand_(watcher.get_executor()),
      clock_(watcher.environment().clock),
      metrics_(watcher.environment().metrics),
      calls_(watcher.environment().file_calls),
      log_(watcher.environment().logger),
      options_(checked(std::move(options))),
      role_(role),
      config_(digest_of_config(config, role, options_)),
      source_(GroupRegistry::impl_of(watcher)),
      what_("the snapshot of role " + std::string(to_string(role)) + " in " + options_.directory),
      files_(SnapshotFiles::of(strand_, options_.directory)),
      observer_(std::move(observer)),
      jitter_(Duration(1), Duration(1),
              watcher.environment().seed + config_[0] * 256U + config_[1]) {}

void WarmTargets::start() {
    asio::post(strand_, [self = shared_from_this()] { self->load(); });
}

void WarmTargets::stop() noexcept {
    asio::post(strand_, [self = shared_from_this()] {
        self->stopped_ = true;
        if (!self->timer_) return;
        if (!self->changed_ && !self->writing_) return self->end();
        // Keep run() from returning until the last write is done, but not on a hanging disk.
        self->timer_->expires_at(self->clock_->now() + last_write_timeout, [self] { self->end(); });
        if (!self->writing_) self->write();
    });
}

void WarmTargets::end() {
    pending_answer_.cancel();
    timer_.reset();
}

void WarmTargets::add_status(DiscovererStatus& status) const {
    const std::lock_guard lock(mutex_);
    status.snapshot = words_;
    status.unconfirmed = unconfirmed_;
}

void WarmTargets::set_words(std::string words, bool unconfirmed) {
    const std::lock_guard lock(mutex_);
    words_ = std::move(words);
    unconfirmed_ = unconfirmed;
}

// --- the server of a snapshot --------------------------------------------------------------------

SnapshotIdentity WarmTargets::identity_of(const ServerIdentity& server) const {
    std::string text = hex(config_);
    for (const std::string& part : {server.url, server.ca, server.ca_file}) add_part(text, part);
    return {digest_of(text), server.ca_file};
}

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
    if (options_.server_timeout == Duration::zero()) {
        patient_ = false;
    } else {
        timer_->expires_at(clock_->now() + options_.server_timeout, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->patient_ = false;
            self->deliver_snapshot();
        });
    }
    read_file();
}

void WarmTargets::read_file() {
    const auto source = source_.lock();
    if (!source) return;
    file_server_ = source->server();
    using Answer = std::shared_ptr<LoadedGroups>;
    pending_answer_ = async_elsewhere<Answer>(
        strand_, calls_,
        [files = files_, identity = identity_of(file_server_), options = options_] {
            return std::make_shared<LoadedGroups>(load_safely(*files, identity, options));
        },
        [](const std::string& problem) {
            return std::make_shared<LoadedGroups>(LoadedGroups{.problem = problem});
        },
        if_alive(weak_from_this(), [](WarmTargets& self, const Answer& loaded) {
            self.on_loaded(std::move(*loaded));
        }));
}

void WarmTargets::on_loaded(LoadedGroups loaded) {
    pending_answer_.cancel();
    if (live_ || stopped_) return;
    if (has_moved()) return read_file();
    if (!loaded.problem.empty()) {
        if (loaded.is_missing) return set_words(what_ + " does not exist yet", false);
        ++metrics_->snapshots_ignored;
        set_words(what_ + " is ignored: " + loaded.problem, false);
        return log_.log(LogLevel::warning, what_ + " is ignored: " + loaded.problem);
    }
    loaded_ = std::move(loaded);
    deliver_snapshot();
}

void WarmTargets::deliver_snapshot() {
    if (patient_ || live_ || !loaded_) return;
    const auto observer = observer_.lock();
    if (!observer) return;
    if (has_moved()) {
        loaded_.reset();
        return read_file();
    }
    for (const TargetGroupPtr& group : loaded_->groups) groups_.apply({group, nullptr, false});
    set_words("the targets are those of a snapshot that is " +
                  std::to_string(loaded_->age.count()) + " s old",
              true);
    loaded_.reset();
    delivered_ = true;
    ++metrics_->snapshots_loaded;
    TargetGroupDiff state = full_diff(groups_);
    state.unconfirmed = true;
    observer->on_ready(std::make_shared<const TargetGroupDiff>(std::move(state)));
}

// --- events of the watcher -----------------------------------------------------------------------

void WarmTargets::on_ready(const std::shared_ptr<const TargetGroupDiff>& state) {
    live_ = true;
    loaded_.reset();
    note_server();
    set_words({}, false);
    if (delivered_) {
        confirm(*state);
    } else {
        groups_.apply(*state);
        if (const auto observer = observer_.lock()) observer->on_ready(state);
    }
    changed_ = true;
    write_later();
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
    if (!changes.empty()) observer->on_changes(changes);
    observer->on_confirmed();
}

void WarmTargets::on_changes(const std::vector<GroupChange>& changes) {
    note_server();
    for (const GroupChange& change : changes) groups_.apply(change);
    if (const auto observer = observer_.lock()) observer->on_changes(changes);
    changed_ = true;
    write_later();
}

void WarmTargets::on_status() {
    note_server();
    if (const auto observer = observer_.lock()) observer->on_status();
}

// --- the next snapshot ---------------------------------------------------------------------------

/// Rewrites an unchanged state, too, before the file expires.
void WarmTargets::write_later() {
    if (waits_ || writing_ || stopped_) return;
    waits_ = changed_;
    const Duration interval = changed_ ? options_.write_interval
                                       : std::max(options_.write_interval, options_.max_age / 4);
    const Duration pause = interval + jitter_.uniform(interval / 2);
    timer_->expires_at(clock_->now() + pause, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->waits_ = false;
        self->write();
    });
}

/// Skips the write while a kubeconfig has switched to another server and not everything has been
/// listed there: the groups belong to no single server then.
void WarmTargets::write() {
    if (!stopped_) note_server();
    if (!server_) {
        changed_ = true;
        return stopped_ ? end() : write_later();
    }
    changed_ = false;
    writing_ = true;
    const auto groups = std::make_shared<std::vector<TargetGroupPtr>>();
    groups->reserve(groups_.group_count());
    groups_.for_each_group([&](const TargetGroupPtr& group) { groups->push_back(group); });
    const auto save = [files = files_, identity = identity_of(*server_), options = options_,
                       groups] {
        try {
            return save_groups(*files, identity, *groups, options);
        } catch (const std::exception& e) {
            return std::string("it takes more than there is: ") + e.what();
        }
    };
    pending_answer_ = async_elsewhere<std::string>(
        strand_, calls_, save, [](const std::string& problem) { return problem; },
        if_alive(weak_from_this(), &WarmTargets::on_written));
}

void WarmTargets::on_written(const std::string& problem) {
    pending_answer_.cancel();
    writing_ = false;
    if (problem.empty()) {
        ++metrics_->snapshots_written;
    } else {
        ++metrics_->snapshot_failures;
        changed_ = true;
    }
    if (std::exchange(write_problem_, problem) != problem) {
        const std::string words =
            problem.empty() ? std::string() : what_ + " is not written: " + problem;
        set_words(words, false);
        if (!words.empty()) log_.log(LogLevel::warning, words);
    }
    if (stopped_) {
        if (changed_ && problem.empty()) return write();
        return end();
    }
    write_later();
}

}  // namespace detail
}  // namespace k8s_sd::inline v0
