#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/late_answers.hpp"
#include "k8s_sd/detail/net/snapshot_files.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The file that keeps the view of a fleet over restarts.
struct ViewFile {
    std::string directory{};
    Duration max_age{};
};

/// Reads the view of before a restart, and writes the present one: at each change, and again from
/// time to time, so that the age of the file is the time for which no program has gone by it. On a
/// strand, unless it says so.
class KeptView final : public std::enable_shared_from_this<KeptView> {
 public:
    KeptView(asio::any_io_executor strand, const ContextEnvironment&, ViewFile);

    /// \param identity  of the fleet and the member: another one has another file
    /// \param on_known  called with the view of the file, if there is one that can be used
    void load(const Digest& identity, std::function<void(const FleetViewPtr&)> on_known);
    /// The members have been seen: the file has nothing more to say.
    void on_seen();
    /// This is the view now, of this fleet.
    void keep(const Digest& identity, FleetViewPtr);
    /// The members are those of another fleet now: what was kept is not written again.
    void forget();
    /// What is not on the disk yet is not waited for: the file of before is there.
    void stop() noexcept;
    /// How old the view is, or why the file is ignored or not written; empty: nothing to say. Any
    /// thread.
    std::string words() const;

 private:
    std::string file_name() const { return hex(identity_, 16) + ".view"; }
    static SnapshotKey key_of(const Digest& identity) { return {"view 1", identity}; }
    void on_loaded(const Digest& identity, const FileBytes&);
    void ignore(const std::string& problem);
    std::string view_bytes() const;
    void write();
    void on_written(const std::string& problem);
    void set(std::string& words, std::string now);

    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<Metrics> metrics_;
    const std::shared_ptr<FileCalls> calls_;
    const Logger log_;
    const ViewFile file_;
    const std::string what_;  ///< for messages
    const std::shared_ptr<const SnapshotFiles> files_;

    Digest identity_{};                                  ///< of what is read, then of the view
    std::function<void(const FleetViewPtr&)> on_known_;  ///< empty: not to be told any more
    LateAnswers::Ticket reading_;
    LateAnswers::Ticket written_;
    std::unique_ptr<Timer> timer_;  ///< of the next write; null: stopped
    FleetViewPtr view_;             ///< null: there is nothing to write
    bool writing_ = false;
    bool changed_ = false;
    std::string write_problem_;

    mutable std::mutex mutex_;  // guards what follows
    std::string read_words_;
    std::string write_words_;
};

}  // namespace k8s_sd::inline v0::detail
