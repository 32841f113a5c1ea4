#pragma once

#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Counts the outcomes of reads and writes of a snapshot file, and puts them into words.
class SnapshotOutcomes {
 public:
    /// \param what  the file, for messages
    SnapshotOutcomes(std::shared_ptr<Metrics> metrics, std::string what)
        : metrics_(std::move(metrics)), what_(std::move(what)) {}

    const std::string& what() const noexcept { return what_; }
    void on_loaded() { ++metrics_->snapshots_loaded; }
    std::string on_ignored(const std::string& problem) {
        ++metrics_->snapshots_ignored;
        return what_ + " is ignored: " + problem;
    }
    /// \param problem  empty: none
    /// \returns nullopt if the previous write had the same problem; empty words: the file is
    ///     written again
    std::optional<std::string> on_written(const std::string& problem) {
        ++(problem.empty() ? metrics_->snapshots_written : metrics_->snapshot_failures);
        if (std::exchange(write_problem_, problem) == problem) return std::nullopt;
        return problem.empty() ? std::string() : what_ + " is not written: " + problem;
    }

 private:
    const std::shared_ptr<Metrics> metrics_;
    const std::string what_;
    std::string write_problem_;
};

/// Reports a snapshot of target groups: in the status, the metrics and the log. Used on the strand
/// of its owner unless noted otherwise.
class SnapshotReport {
 public:
    /// \param what  the snapshot, for messages
    SnapshotReport(std::shared_ptr<Metrics> metrics, Logger logger, std::string what)
        : outcomes_(std::move(metrics), std::move(what)), log_(std::move(logger)) {}

    void on_missing() { set(outcomes_.what() + " does not exist yet", false); }
    void on_ignored(const std::string& problem) {
        warn(LogEvent::snapshot_ignored, outcomes_.on_ignored(problem));
    }
    /// The targets of the snapshot are in use.
    void on_delivered(std::chrono::seconds age) {
        outcomes_.on_loaded();
        set("the targets are from a snapshot, " + std::to_string(age.count()) + " s old", true);
    }
    /// The targets of the server are in use.
    void on_live() { set({}, false); }
    /// \param problem  empty: none. Each is reported once in a row.
    void on_written(const std::string& problem) {
        const auto words = outcomes_.on_written(problem);
        if (!words) return;
        if (words->empty()) return set({}, false);
        warn(LogEvent::snapshot_not_written, *words);
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
    void warn(LogEvent event, const std::string& words) {
        set(words, false);
        log_.log(LogLevel::warning, event, words);
    }

    SnapshotOutcomes outcomes_;
    const Logger log_;

    mutable std::mutex mutex_;  // guards everything below
    std::string words_;
    bool unconfirmed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
