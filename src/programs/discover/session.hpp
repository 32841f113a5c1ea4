#pragma once

#include "cli/cluster.hpp"
#include "cli/event_log.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "http/member.hpp"
#include "hub_clusters.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/group_share.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "k8s_sd/target_groups.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "reporter.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace discover {

/// One run of the program: creates the discoverers and stops them according to options, signals or
/// the time. Everything happens on the thread of the context.
class Session {
 public:
    /// \param hub  of --cluster-profiles, listed, on the context; null: the clusters of the options
    /// \throws k8s_sd::ConfigError for an unusable configuration
    Session(boost::asio::io_context&, Options, LineWriter&, HubClusters* hub = nullptr);

    /// Runs the context. \throws cli::OutputEnded, std::system_error
    cli::ExitStatus run();

 private:
    /// A job with groups shared among the members of a fleet.
    struct SharedJob {
        k8s_sd::GroupShare share;
        bool synced = false;
        bool unconfirmed = false;  ///< whether its targets are unconfirmed
    };

    /// The other server, or the other access, of a cluster with reported targets.
    struct Move {
        bool other_server = false;      ///< its objects are others, even those of equal names
        bool reported = false;          ///< that it fails
        k8s_sd::TargetGroups groups{};  ///< replace the reported ones once they are complete
    };

    /// The progress of a job.
    struct JobState {
        bool synced = false;            ///< its complete first state has come
        bool delivered = false;         ///< and is reported
        bool gone = false;              ///< a cluster without a ClusterProfile now
        k8s_sd::TargetGroups groups{};  ///< the reported targets of a cluster of a hub
        std::optional<Move> move{};     ///< of a cluster of a hub
    };

    void install_environment();
    /// Records, or replays a recording, if the options say so.
    void set_up_recording(k8s_sd::Environment&);
    void run_replay();
    /// Replays so many times as fast as recorded.
    void advance_at_speed(double speed);
    void find_server();
    /// \returns the servers, in words
    std::string find_clusters();
    std::string without_clusters();
    std::string why_no_cluster() const;
    /// Those of the hub; the log has the others, once for each reason.
    std::vector<k8s_sd::DiscoveryConfig> usable_clusters();
    void join_fleet();
    void make_discoverers();
    k8s_sd::Discoverer discoverer_of(unsigned job, const k8s_sd::DiscoveryConfig&);
    /// The clusters of the hub have changed.
    void on_clusters();
    void add_cluster(const k8s_sd::DiscoveryConfig&);
    void move_cluster(unsigned job, const k8s_sd::DiscoveryConfig&);
    void on_move_status(unsigned job, const k8s_sd::DiscovererStatus&);
    void remove_cluster(unsigned job);
    /// The job of a cluster, which may be gone.
    std::optional<unsigned> job_of(const std::string& cluster) const;
    /// Whether all jobs have made this progress.
    bool all(bool JobState::*progress) const;
    /// Reports an event beside the results.
    void note(k8s_sd::LogLevel, cli::Event, const std::string& text) const;
    void comment(cli::Event, const std::string& text);
    void on_diff(unsigned job, const k8s_sd::TargetGroupDiff&);
    void on_cluster_diff(unsigned job, const k8s_sd::TargetGroupDiff&);
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
    void stop(cli::ExitStatus);

    boost::asio::io_context& io_;
    Options options_;
    HubClusters* const hub_;
    std::vector<k8s_sd::DiscoveryConfig> configs_;  ///< of several clusters, or a single one
    std::map<std::string, std::string> unusable_;   ///< why, by cluster of the hub
    std::shared_ptr<k8s_sd::sim::ManualClock> replay_clock_;  ///< null: no replay
    std::shared_ptr<k8s_sd::sim::ReplayConnector> replay_;
    k8s_sd::Duration replay_end_{};
    std::unique_ptr<cli::Cluster> simulation_;
    std::unique_ptr<Reporter> reporter_;
    cli::Signals signals_;
    boost::asio::steady_timer timeout_;
    boost::asio::steady_timer status_timer_;
    boost::asio::steady_timer hopeless_timer_;
    boost::asio::steady_timer handover_timer_;
    cli::Terminal errors_;
    const cli::EventLog log_;
    std::deque<std::optional<k8s_sd::Discoverer>> discoverers_;  ///< by job; none: it is gone
    std::optional<Progress> progress_;
    std::unique_ptr<http::Member> member_;
    std::vector<SharedJob> shared_jobs_;  ///< none without a fleet
    std::vector<JobState> jobs_;
    bool is_complete_ = false;  ///< all jobs have been reported
    bool has_view_ = false;     ///< whether there is a view of the fleet
    bool stopped_ = false;
    cli::ExitStatus status_ = cli::exit_fine;
};

}  // namespace discover
