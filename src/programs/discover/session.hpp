#pragma once

#include "cli/cluster.hpp"
#include "cli/event_log.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "http/member.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/group_share.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "reporter.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace discover {

/// One run of the program: creates the discoverers and stops them according to options, signals or
/// the time. Everything happens on the thread of the context.
class Session {
 public:
    /// \throws k8s_sd::ConfigError for an unusable configuration
    Session(boost::asio::io_context&, Options, LineWriter&);

    /// Runs the context. \throws support::OutputEnded, std::system_error
    support::ExitStatus run();

 private:
    /// A job with groups shared among the members of a fleet.
    struct SharedJob {
        k8s_sd::GroupShare share;
        bool synced = false;
        bool unconfirmed = false;  ///< whether its targets are unconfirmed
    };

    /// Records, or replays a recording, if the options say so.
    void set_up_recording(k8s_sd::Environment&);
    void run_replay();
    /// Replays so many times as fast as recorded.
    void advance_at_speed(double speed);
    void find_server();
    /// \returns the servers, in words
    std::string find_clusters();
    void join_fleet();
    void wait_for_signals();
    void make_discoverers();
    /// Reports an event beside the results.
    void note(k8s_sd::LogLevel, support::Event, const std::string& text) const;
    void comment(support::Event, const std::string& text);
    void on_diff(unsigned job, const k8s_sd::TargetGroupDiff&);
    void report(unsigned job, const k8s_sd::TargetGroupDiff&);
    void on_share(const k8s_sd::FleetShare&);
    void finish_handovers_later();
    void on_synced();
    void on_timeout();
    void end_if_hopeless_later();
    /// The watches of all discoverers, without repetitions by jobs of one cluster.
    std::vector<k8s_sd::WatchStatus> watches() const;
    void stop_unsynced(const std::string& why);
    void print_status_later();
    void stop(support::ExitStatus);

    boost::asio::io_context& io_;
    Options options_;
    std::vector<k8s_sd::DiscoveryConfig> configs_;  ///< of several clusters, or a single one
    std::shared_ptr<k8s_sd::sim::ManualClock> replay_clock_;  ///< null: no replay
    std::shared_ptr<k8s_sd::sim::ReplayConnector> replay_;
    k8s_sd::Duration replay_end_{};
    std::unique_ptr<support::Cluster> simulation_;
    std::unique_ptr<Reporter> reporter_;
    support::Signals signals_;
    boost::asio::steady_timer timeout_;
    boost::asio::steady_timer status_timer_;
    boost::asio::steady_timer hopeless_timer_;
    boost::asio::steady_timer handover_timer_;
    support::Terminal errors_;
    const support::EventLog log_;
    std::vector<k8s_sd::Discoverer> discoverers_;
    std::optional<Progress> progress_;
    std::unique_ptr<support::Member> member_;
    std::vector<SharedJob> shared_jobs_;  ///< none without a fleet
    unsigned synced_jobs_ = 0;
    unsigned delivered_jobs_ = 0;
    bool has_view_ = false;  ///< whether there is a view of the fleet
    bool stopped_ = false;
    support::ExitStatus status_ = support::exit_fine;
};

}  // namespace discover
