#pragma once

#include "jobs/job_targets.hpp"
#include "jobs/waiting_readers.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/warm_start.hpp"
#include "lists/list_request.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// How readers are served.
struct ServeOptions {
    ListLimits lists{};
    /// The maximum time a request waits for the first complete list.
    std::chrono::nanoseconds hold = std::chrono::seconds(20);
    std::size_t held_requests = 10'000;  ///< of one job
    k8s_sd::WarmStart warm_start{};      ///< targets over restarts; none by default
    /// How long a new job waits for all of its clusters, before one of them is enough; nullopt:
    /// without limit.
    std::optional<std::chrono::nanoseconds> start_without_clusters = std::chrono::seconds(30);
    /// The minimum interval between two evaluations of changing lists for waiting readers.
    std::chrono::nanoseconds pace = std::chrono::milliseconds(100);
    /// How often unused lists are looked for.
    std::chrono::nanoseconds sweep = std::chrono::minutes(1);
    std::size_t watch_readers = 1'000;                              ///< of all streams
    std::chrono::nanoseconds heartbeat = std::chrono::seconds(15);  ///< of streams
    std::shared_ptr<k8s_sd::Clock> clock = k8s_sd::system_clock();  ///< for waiting readers
    /// Called in any thread once the first complete list of a job exists; may be empty.
    std::function<void(const std::string& job, const JobTargetCounts&)> on_complete{};
    /// Called in any thread once the first list of a job is served without these clusters; may be
    /// empty. `on_complete` follows when they have been listed.
    std::function<void(const std::string& job, const JobTargetCounts&,
                       const std::vector<std::string>& missing)>
        on_missing_clusters{};
    /// Called in any thread once more targets of a job cannot be scraped, at most every ten minutes
    /// for each job; may be empty. \param example  the address of one, and the reason
    std::function<void(const std::string& job, const JobTargetCounts&, const std::string& example)>
        on_failed{};
};

/// One job as seen by readers: its targets, on a strand of its own, and the requests waiting for
/// them. Any thread; modifying functions only post.
class ServedJob final : public std::enable_shared_from_this<ServedJob> {
 public:
    /// \param why_incomplete  in words; called in any thread
    /// \param metrics         outlives the job, like `history`; `history` may be null
    ServedJob(const boost::asio::any_io_executor&, k8s_sd::ScrapeConfig, const ServeOptions&,
              std::function<std::string()> why_incomplete, ListMetrics& metrics,
              ChangeHistory* history = nullptr);

    /// See JobTargets.
    void reload(k8s_sd::ScrapeConfig, std::vector<k8s_sd::ProviderId> providers);
    /// \param problem  why no list is to be expected, in words, or an empty text; called in any
    ///                 thread; may be empty
    void expect(ExpectedProviders, std::function<std::string()> problem = {});
    void apply(k8s_sd::JobDiff);
    /// Answers once the targets are complete and the reader does not know the list, or when the
    /// reader's time is over.
    void get(ListRequest, OnList);
    /// Runs a function with the targets, complete or not, on the job's strand; not if the job ends
    /// before.
    void visit(std::function<void(JobTargets&)>);
    /// The job was removed from the configuration: present and later requests are answered with its
    /// end, but diffs are still applied. \param reason  in words
    void leave(std::string reason);
    /// The job is back in the configuration; call reload() and expect() before.
    void come_back();
    /// Like leave(), and releases everything.
    void stop(std::string reason);

    /// Whether lists are served.
    bool complete() const noexcept { return complete_; }
    /// The clusters whose targets the lists lack.
    std::vector<std::string> missing_clusters() const;
    /// Why it is incomplete, in words.
    std::string why_incomplete() const;
    /// The part of it that expect() has named.
    std::string problem() const;
    /// As of the last diff; those left out by the job's filter as of now.
    JobTargetCounts counts() const;
    std::size_t held() const noexcept { return held_count_; }
    const ServeOptions& options() const noexcept { return options_; }

 private:
    template <class Action>
    void post(Action);
    void on_change();
    void report_start(bool was_served, const JobTargetCounts&,
                      const std::vector<std::string>& missing);
    void wait_for_clusters();
    void start_without_clusters();
    void report_failed(const JobTargetCounts&);
    void forget_unused();
    k8s_sd::TimePoint next_sweep() const;
    static OnList without_exceptions(OnList);
    ListAnswer answer(const ListRequest&);
    OnList with_reason(OnList) const;
    void answer_waiting();
    void end_readers(std::string reason);
    void wake_later();

    const boost::asio::any_io_executor strand_;
    const ServeOptions options_;
    const std::function<std::string()> why_incomplete_;
    const std::string name_;
    JobTargets targets_;
    WaitingReaders readers_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    std::optional<WaitingReaders::TimePoint> wakes_;  ///< the timer's expiry
    std::optional<std::string> ended_;                ///< the reason, for readers
    bool stopped_ = false;
    k8s_sd::TimePoint swept_;
    std::optional<k8s_sd::TimePoint> clusters_due_;  ///< end of the time for all clusters
    bool is_reported_ = false;                       ///< as complete
    std::size_t failed_then_ = 0;                    ///< at the last report, or fewer since
    std::optional<k8s_sd::TimePoint> next_report_;
    // Read by other threads.
    std::atomic<bool> complete_ = false;
    mutable std::mutex counts_mutex_;
    LiveCounts counts_{};
    std::vector<std::string> missing_clusters_;
    std::function<std::string()> problem_;  ///< may be empty
    std::atomic<std::size_t> held_count_ = 0;
};

}  // namespace k8s_sd_program
