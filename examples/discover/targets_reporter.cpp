#include "reporter.hpp"
#include "support/json_text.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace discover {

namespace {

/// Prints the state of all jobs once the last of them has delivered it; until then those that
/// were earlier may have changed.
class TargetsReporter final : public Reporter {
 public:
    TargetsReporter(LineWriter& out, unsigned jobs) : out_(out), jobs_(jobs) {}

    void diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) override {
        Groups& groups = jobs_[job];
        if (diff.full) groups.clear();
        for (const k8s_sd::TargetGroupPtr& group : diff.removed) groups.erase(group->source());
        for (const k8s_sd::GroupChange& change : diff.updated) {
            // The key is part of the group, so that it has to be replaced with it.
            groups.erase(change.group->source());
            groups.emplace(change.group->source(), change.group);
        }
    }

    void synced() override {
        out_ << "[";
        const char* separator = "";
        for (const Groups& groups : jobs_) {
            for (const auto& [source, group] : groups) {
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
    using Groups = std::map<std::string_view, k8s_sd::TargetGroupPtr>;

    LineWriter& out_;
    std::vector<Groups> jobs_;
};

}  // namespace

std::unique_ptr<Reporter> make_targets_reporter(LineWriter& out, unsigned jobs) {
    return std::make_unique<TargetsReporter>(out, jobs);
}

}  // namespace discover
