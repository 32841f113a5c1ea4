#pragma once

#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_report.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_store.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/time.hpp"
#include "k8s_sd/warm_start.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Decides when a snapshot is written. Without a change it is rewritten as well, before the file
/// expires. No I/O.
class WriteSchedule {
 public:
    /// \param interval  between two writes of changes
    WriteSchedule(Duration interval, Duration max_age, std::uint64_t seed)
        : interval_(interval), max_age_(max_age), jitter_(Duration(1), Duration(1), seed) {}

    void on_change() noexcept { changed_ = true; }
    bool has_changes() const noexcept { return changed_; }
    bool writing() const noexcept { return writing_; }

    /// The pause before the next write, drawn anew; nullopt: a write of changes is due, or one is
    /// running.
    std::optional<Duration> next_pause() {
        if (waits_ || writing_) return std::nullopt;
        waits_ = changed_;
        const Duration interval = changed_ ? interval_ : std::max(interval_, max_age_ / 4);
        return interval + jitter_.uniform(interval / 2);
    }
    /// The pause is over.
    void on_due() noexcept { waits_ = false; }
    void begin_write() noexcept {
        changed_ = false;
        writing_ = true;
    }
    void end_write(bool written) noexcept {
        writing_ = false;
        changed_ = changed_ || !written;
    }

 private:
    const Duration interval_;
    const Duration max_age_;
    Backoff jitter_;
    bool waits_ = false;  ///< a write of changes is due
    bool writing_ = false;
    bool changed_ = false;
};

/// Wraps the observer of a GroupWatcher: delivers the targets of a snapshot if the API server does
/// not respond in time, and the differences once it does. Also writes the next snapshot. A snapshot
/// belongs to one server: when it is read, the client's present server; when it is written, the
/// server that has listed all groups. Used on the watcher's strand unless noted otherwise.
class WarmTargets final : public GroupWatcher::Observer,
                          public std::enable_shared_from_this<WarmTargets> {
 public:
    WarmTargets(const GroupWatcher&, const ResolvedConfig&, Role, const WarmStart&,
                std::weak_ptr<GroupWatcher::Observer>);

    /// Any thread.
    void start();
    /// Stops notifications. Pending changes are written once more; the context's run() waits for
    /// that write, at most 2 s. Any thread.
    void stop() noexcept;
    /// Adds the state of the snapshot. Any thread.
    void add_status(DiscovererStatus& status) const { report_.add_status(status); }

 private:
    WarmTargets(const GroupWatcher&, Role, const WarmStart&, const Digest& config,
                std::weak_ptr<GroupWatcher::Observer>);

    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override;
    void on_changes(const std::vector<GroupChange>&) override;
    void on_status() override;

    void end();
    void load();
    void read_file();
    void on_loaded(LoadedGroups);
    bool has_moved() const;
    void note_server();
    void deliver_snapshot();
    void confirm(const TargetGroupDiff& live);
    void write_later();
    void write();
    void on_written(const std::string& problem);

    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    Reminder end_post_{clock_};
    const Duration server_timeout_;
    const Role role_;
    const std::weak_ptr<const GroupWatcherImpl> source_;  ///< of the groups
    const std::weak_ptr<GroupWatcher::Observer> observer_;

    SnapshotStore store_;
    SnapshotReport report_;
    WriteSchedule schedule_;
    std::unique_ptr<Timer> timer_;        ///< server timeout, then writes; null: stopped
    ServerIdentity file_server_;          ///< the server of the loaded snapshot
    std::optional<LoadedGroups> loaded_;  ///< until the server responds
    bool awaits_server_ = true;           ///< the server may still respond in time
    bool delivered_ = false;              ///< the snapshot was delivered to the observer
    bool live_ = false;
    TargetGroups groups_;  ///< the groups delivered to the observer, or those of the server
    std::optional<ServerIdentity>
        server_;  ///< the server of all groups; nullopt: they are of several servers
    bool stopped_ = false;
};

}  // namespace k8s_sd::inline v0::detail
