#pragma once

#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/discovery/group_snapshot.hpp"
#include "k8s_sd/detail/net/late_answers.hpp"
#include "k8s_sd/detail/net/server_identity.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/warm_start.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Stands between a GroupWatcher and its observer: tells the targets of a snapshot where the API
/// server does not answer, then what differs; and writes the next snapshot. A snapshot is of one
/// server: that which the client leads to when the file is read, and that which has listed all of
/// the groups when it is written. On the watcher's strand unless it says so.
class WarmTargets final : public GroupWatcher::Observer,
                          public std::enable_shared_from_this<WarmTargets> {
 public:
    /// \throws ConfigError as validate()
    WarmTargets(const GroupWatcher&, const ResolvedConfig&, Role, WarmStart,
                std::weak_ptr<GroupWatcher::Observer>);

    /// Any thread.
    void start();
    /// Nothing is told any more; what has changed is written once more, for which the context's
    /// run() waits, 2 s at most. Any thread.
    void stop() noexcept;
    /// Adds what it knows. Any thread.
    void add_status(DiscovererStatus&) const;

 private:
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override;
    void on_changes(const std::vector<GroupChange>&) override;
    void on_status() override;

    void end();
    void load();
    void read_file();
    void on_loaded(LoadedGroups);
    bool has_moved() const;
    void note_server();
    SnapshotIdentity identity_of(const ServerIdentity&) const;
    void tell_snapshot();
    void confirm(const TargetGroupDiff& live);
    void write_later();
    void write();
    void on_written(const std::string& problem);
    void set_words(std::string, bool unconfirmed);

    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<Metrics> metrics_;
    const std::shared_ptr<FileCalls> calls_;
    const Logger log_;
    const WarmStart options_;
    const Role role_;
    const Digest config_;                                 ///< of all that is not the server
    const std::weak_ptr<const GroupWatcherImpl> source_;  ///< of the groups
    const std::string what_;                              ///< for messages
    const std::shared_ptr<const SnapshotFiles> files_;
    const std::weak_ptr<GroupWatcher::Observer> observer_;

    Backoff jitter_;
    std::unique_ptr<Timer> timer_;  ///< of the patience, then of writes; null: stopped
    LateAnswers::Ticket ticket_;
    ServerIdentity file_server_;          ///< whose snapshot was read
    std::optional<LoadedGroups> loaded_;  ///< until the server has answered
    bool patient_ = true;                 ///< the server may still answer in time
    bool told_ = false;                   ///< the observer has the snapshot
    bool live_ = false;
    TargetGroups groups_;  ///< that the observer has, or those of the server
    std::optional<ServerIdentity>
        server_;          ///< that has listed all of them; nothing: not one server
    bool waits_ = false;  ///< a write is due
    bool writing_ = false;
    bool changed_ = false;
    bool stopped_ = false;
    std::string write_problem_;

    mutable std::mutex mutex_;  // guards what follows
    std::string words_;
    bool unconfirmed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
