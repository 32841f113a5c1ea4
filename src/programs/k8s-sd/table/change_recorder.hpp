#pragma once

#include "k8s_sd/scrape/scrape_target.hpp"
#include "table/change_history.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// Records the targets started and stopped together by a pool. A large batch counts as one change,
/// so that the first list of a job does not displace all others. Not thread-safe.
class ChangeRecorder {
 public:
    static constexpr std::size_t max_changes_at_once = 100;
    using WhyGone = std::function<std::string(const k8s_sd::ScrapeTarget&)>;

    /// \param history  outlives it; null: nothing is recorded
    ChangeRecorder(std::string job, ChangeHistory* history)
        : job_(std::move(job)), history_(history) {}

    void started(const k8s_sd::ScrapeTargetPtr&);
    void stopped(const k8s_sd::ScrapeTargetPtr&);
    /// Ends a batch.
    /// \param full     a provider has delivered its targets for the first time
    /// \param why_gone  the reason for a stopped target, in words
    void finish(bool full, const WhyGone& why_gone);

 private:
    struct Side {
        std::size_t total = 0;
        std::vector<k8s_sd::ScrapeTargetPtr> targets{};  ///< the first ones

        void add(const k8s_sd::ScrapeTargetPtr&);
    };

    std::vector<TargetChange> one_by_one(const WhyGone&) const;
    TargetChange all_in_one(bool first) const;

    const std::string job_;
    ChangeHistory* const history_;
    Side started_, stopped_;
};

}  // namespace k8s_sd_program
