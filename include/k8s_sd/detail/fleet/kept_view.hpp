#pragma once

#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_report.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Packs the members of a view compactly: length-prefixed names in the order of the view.
inline std::string pack_view(const FleetView& view) {
    std::string bytes;
    for (const std::string& name : view.members()) pack_value(bytes, name);
    return bytes;
}

/// The unpacked view. Null for malformed bytes: with more than 100 000 members, or with a name that
/// is empty, longer than 1024 bytes, not UTF-8, or out of order.
inline FleetViewPtr unpack_view(std::string_view bytes) {
    constexpr std::size_t max_members = 100'000;
    constexpr std::size_t max_name_size = 1024;
    std::vector<std::string> names;
    PackedReader reader(bytes);
    while (!reader.at_end()) {
        const std::string_view name = reader.utf8();
        const bool in_order = names.empty() || names.back() < name;
        if (name.empty() || name.size() > max_name_size || !in_order) return nullptr;
        if (names.size() == max_members) return nullptr;
        names.emplace_back(name);
    }
    return std::make_shared<const FleetView>(std::move(names));
}

/// The file with the view of a fleet; it survives restarts.
struct ViewFile {
    std::string directory{};
    Duration max_age{};
};

/// Reports the file of a view: in the status, the metrics and the log. Used on the strand of its
/// owner unless noted otherwise.
class ViewFileReport {
 public:
    /// \param what  the file, for messages
    ViewFileReport(std::shared_ptr<Metrics> metrics, Logger logger, std::string what)
        : outcomes_(std::move(metrics), std::move(what)), log_(std::move(logger)) {}

    /// The view of the file is in use.
    void on_known(std::chrono::seconds age) {
        set(read_words_,
            "the view is from before the restart, " + std::to_string(age.count()) + " s old");
    }
    /// \param wanted  the view of the file is still wanted
    void on_ignored(const std::string& problem, bool wanted) {
        const std::string words = outcomes_.on_ignored(problem);
        if (wanted) set(read_words_, words);
        log_.log(LogLevel::warning, LogEvent::fleet_file_ignored, words);
    }
    /// The members have been seen: the file is no longer needed.
    void on_seen() { set(read_words_, {}); }
    /// \param problem  empty: none. Each is reported once in a row.
    void on_written(const std::string& problem) {
        const auto words = outcomes_.on_written(problem);
        if (!words) return;
        set(write_words_, *words);
        if (words->empty()) return;
        log_.log(LogLevel::warning, LogEvent::fleet_file_not_written, *words);
    }
    /// Any thread.
    std::string words() const {
        const std::lock_guard lock(mutex_);
        return write_words_.empty() ? read_words_ : write_words_;
    }

 private:
    void set(std::string& words, std::string now) {
        const std::lock_guard lock(mutex_);
        words = std::move(now);
    }

    SnapshotOutcomes outcomes_;
    const Logger log_;

    mutable std::mutex mutex_;  // guards everything below
    std::string read_words_;
    std::string write_words_;
};

/// Reads the view stored before a restart, and writes the present one at each change. Rewrites it
/// periodically as well: the age of the file is then the time without a running program. Used on a
/// strand unless noted otherwise.
class KeptView final : public std::enable_shared_from_this<KeptView> {
 public:
    KeptView(asio::any_io_executor strand, const ContextEnvironment&, ViewFile);

    /// \param identity  of the fleet and the member; it selects the file
    /// \param on_known  called with the view of the file, if that is usable
    void load(const Digest& identity, std::function<void(const FleetViewPtr&)> on_known);
    /// The members have been seen: the file is no longer needed.
    void on_seen();
    /// Stores the present view of this fleet.
    void keep(const Digest& identity, FleetViewPtr);
    /// The members now belong to another fleet: the previous view is not written again.
    void forget();
    /// Stops without waiting for a pending write: the previous file remains valid.
    void stop() noexcept;
    /// The age of the view, or why the file is ignored or not written; empty: nothing to report.
    /// Any thread.
    std::string words() const { return report_.words(); }

 private:
    std::string file_name() const { return hex(identity_, 16) + ".view"; }
    static SnapshotKey key_of(const Digest& identity) { return {"view 1", identity}; }
    void on_loaded(const Digest& identity, const FileBytes&);
    void ignore(const std::string& problem);
    std::string view_bytes() const;
    void write();
    void on_written(const std::string& problem);

    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<FileCalls> calls_;
    const ViewFile file_;
    const std::shared_ptr<const SnapshotFiles> files_;

    Digest identity_{};                                  ///< of the file read, then of the view
    std::function<void(const FleetViewPtr&)> on_known_;  ///< empty: called or no longer wanted
    LateAnswers::PendingAnswer reading_;
    LateAnswers::PendingAnswer written_;
    std::unique_ptr<Timer> timer_;  ///< for the next write; null: stopped
    FleetViewPtr view_;             ///< null: nothing to write
    bool writing_ = false;
    bool changed_ = false;
    ViewFileReport report_;
};

}  // namespace k8s_sd::inline v0::detail
