#pragma once

#include "job_targets.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

/// How readers are served.
struct ServeOptions {
    ListLimits lists{};
    /// How long a request waits for the first complete list, at most.
    std::chrono::nanoseconds hold = std::chrono::seconds(20);
    std::size_t held_requests = 10'000;  ///< of one job
    k8s_sd::WarmStart warm_start{};      ///< targets over restarts; none by default
};

/// What a reader asks of a job.
struct ListRequest {
    ListForm form = ListForm::discovered;
    Selection selection{};
    std::chrono::nanoseconds patience{};  ///< how long the reader waits for an answer
};

/// A list, or why there is none.
struct ListAnswer {
    ListBodyPtr body{};
    std::string refusal{};  ///< in words, where there is no body
};
using OnList = std::function<void(const ListAnswer&)>;

/// One job as readers see it: its targets, on a strand of its own, and the requests that wait for
/// them. The functions may be called in any thread; those that change something only post.
class ServedJob final : public std::enable_shared_from_this<ServedJob> {
 public:
    /// \param why_incomplete  in words; called in any thread
    /// \param metrics         outlives the job, as `history`, which may be null
    ServedJob(const boost::asio::any_io_executor&, k8s_sd::ScrapeConfig, const ServeOptions&,
              std::function<std::string()> why_incomplete, ListMetrics& metrics,
              ChangeHistory* history = nullptr);

    /// See JobTargets.
    void reload(k8s_sd::ScrapeConfig, std::vector<k8s_sd::ProviderId> providers);
    void expect(std::optional<std::vector<k8s_sd::ProviderId>> providers);
    void apply(k8s_sd::JobDiff);
    /// Answers, now or when the targets are complete, or refuses.
    void get(ListRequest, OnList);
    /// Runs a function that looks at the targets, complete or not, on the job's strand; not if the
    /// job ends before.
    void visit(std::function<void(JobTargets&)>);
    /// Refuses who waits, and ends everything.
    void stop();

    /// Whether lists are served.
    bool complete() const noexcept { return complete_; }
    /// As of the last diff.
    TargetCounts counts() const noexcept;
    std::size_t held() const noexcept { return held_count_; }

 private:
    struct Held {
        ListRequest request;
        OnList on_list;
        std::chrono::steady_clock::time_point until;
    };

    template <class Action>
    void post(Action);
    void on_change();
    void forget_unused();
    void answer(const ListRequest&, const OnList&);
    void hold(ListRequest, OnList);
    void answer_held();
    void refuse_held(std::chrono::steady_clock::time_point now, const std::string& reason);
    void refuse_held_later();

    const boost::asio::any_io_executor strand_;
    const ServeOptions options_;
    const std::function<std::string()> why_incomplete_;
    JobTargets targets_;
    std::list<Held> held_;
    boost::asio::steady_timer timer_;
    bool stopped_ = false;
    std::chrono::steady_clock::time_point swept_{};
    // For other threads.
    std::atomic<bool> complete_ = false;
    std::atomic<std::size_t> discovered_ = 0, active_ = 0, dropped_ = 0, failed_ = 0;
    std::atomic<std::size_t> held_count_ = 0;
};

}  // namespace bridge
