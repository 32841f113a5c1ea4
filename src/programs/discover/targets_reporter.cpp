#include "cli/json_text.hpp"
#include "k8s_sd/target_groups.hpp"
#include "reporter.hpp"

#include <algorithm>
#include <vector>

namespace discover {

namespace {

using k8s_sd::TargetGroupPtr;

/// The groups sorted by source.
std::vector<TargetGroupPtr> sorted(const k8s_sd::TargetGroups& groups) {
    std::vector<TargetGroupPtr> result;
    groups.for_each_group([&](const TargetGroupPtr& group) { result.push_back(group); });
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a->source() < b->source(); });
    return result;
}

/// Prints the state of all jobs once the last of them has delivered it; the states of earlier ones
/// may have changed by then.
class TargetsReporter final : public Reporter {
 public:
    TargetsReporter(LineWriter& out, unsigned jobs) : out_(out), jobs_(jobs) {}

    void diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) override {
        jobs_[job].apply(diff);
    }

    void synced() override {
        out_ << "[";
        const char* separator = "";
        for (const k8s_sd::TargetGroups& groups : jobs_) {
            for (const TargetGroupPtr& group : sorted(groups)) {
                for (std::size_t i = 0; i < group->size(); ++i) {
                    out_ << separator;
                    write_json(out_, group->merged(i));
                    separator = ",";
                }
            }
        }
        out_ << "]";
        out_.end_line();
    }

 private:
    LineWriter& out_;
    std::vector<k8s_sd::TargetGroups> jobs_;
};

}  // namespace

std::unique_ptr<Reporter> make_targets_reporter(LineWriter& out, unsigned jobs) {
    return std::make_unique<TargetsReporter>(out, jobs);
}

}  // namespace discover
