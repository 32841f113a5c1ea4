#pragma once

#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Reports a snapshot of target groups: in the status, the metrics and the log. Used on the strand
/// of its owner unless noted otherwise.
class SnapshotReport {
 public:
    /// \param what  the snapshot, for messages
    SnapshotReport(std::shared_ptr<Metrics> metrics, Logger logger, std::string what)
        : metrics_(std::move(metrics)), log_(std::move(logger)), what_(std::move(what)) {}

    void on_missing() { set(what_ + " does not exist yet", false); }
    void on_ignored(const std::string& problem) {
        ++metrics_->snapshots_ignored;
        warn(what_ + " is ignored: " + problem);
    }
    /// The targets of the snapshot are in use.
    void on_delivered(std::chrono::seconds age) {
        ++metrics_->snapshots_loaded;
        set("the targets are those of a snapshot that is " + std::to_string(age.count()) + " s old",
            true);
    }
    /// The targets of the server are in use.
    void on_live() { set({}, false); }
    /// \param problem  empty: none. Each is reported once in a row.
    void on_written(const std::string& problem) {
        ++(problem.empty() ? metrics_->snapshots_written : metrics_->snapshot_failures);
        if (std::exchange(write_problem_, problem) == problem) return;
        if (problem.empty()) return set({}, false);
        warn(what_ + " is not written: " + problem);
    }

    /// Any thread.
    void add_status(DiscovererStatus& status) const {
        const std::lock_guard lock(mutex_);
        status.snapshot = words_;
        status.unconfirmed = unconfirmed_;
    }

 private:
    void set(std::string words, bool unconfirmed) {
        const std::lock_guard lock(mutex_);
        words_ = std::move(words);
        unconfirmed_ = unconfirmed;
    }
    void warn(const std::string& words) {
        set(words, false);
        log_.log(LogLevel::warning, words);
    }

    const std::shared_ptr<Metrics> metrics_;
    const Logger log_;
    const std::string what_;
    std::string write_problem_;

    mutable std::mutex mutex_;  // guards everything below
    std::string words_;
    bool unconfirmed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
