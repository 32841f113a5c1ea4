#include "reporter.hpp"
#include "target_pairs.hpp"

#include <cstddef>
#include <string>

namespace discover {

namespace {

/// Prints counts only. The totals are those of all jobs together.
class QuietReporter final : public Reporter {
 public:
    QuietReporter(LineWriter& out, const Options& options) : out_(out), options_(options) {}

    void diff(unsigned, const k8s_sd::TargetGroupDiff& diff) override {
        std::size_t added = 0;
        std::size_t updated = 0;
        std::size_t removed = 0;
        for (const k8s_sd::GroupChange& change : diff.updated) {
            const TargetPairs pairs = pair_targets(change);
            added += pairs.added.size();
            updated += pairs.updated();
            removed += pairs.removed.size();
            if (!change.previous) ++groups_;
        }
        for (const k8s_sd::TargetGroupPtr& group : diff.removed) removed += group->size();
        groups_ -= diff.removed.size();
        targets_ += added;
        targets_ -= removed;
        if (!synced_) return;
        out_ << "changed targets=" << std::to_string(targets_) << " added=" << std::to_string(added)
             << " updated=" << std::to_string(updated) << " removed=" << std::to_string(removed);
        out_.end_line();
    }

    void synced() override {
        synced_ = true;
        out_ << "synced targets=" << std::to_string(targets_)
             << " groups=" << std::to_string(groups_) << " jobs=" << std::to_string(options_.jobs);
        out_.end_line();
    }

 private:
    LineWriter& out_;
    const Options& options_;
    bool synced_ = false;
    std::size_t targets_ = 0;
    std::size_t groups_ = 0;
};

}  // namespace

std::unique_ptr<Reporter> make_quiet_reporter(LineWriter& out, const Options& options) {
    return std::make_unique<QuietReporter>(out, options);
}

}  // namespace discover
