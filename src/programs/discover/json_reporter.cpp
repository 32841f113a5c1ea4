#include "cli/json_text.hpp"
#include "reporter.hpp"
#include "shown_labels.hpp"

#include <string>

namespace discover {

namespace {

using k8s_sd::TargetGroup;

class JsonReporter final : public Reporter {
 public:
    JsonReporter(LineWriter& out, const Options& options) : out_(out), options_(options) {}

    void diff(unsigned job, const k8s_sd::TargetGroupDiff& diff) override {
        out_ << "{\"job\":" << std::to_string(job);
        if (!options_.cluster_names.empty()) {
            out_ << ",\"cluster\":";
            cli::write_json(out_, options_.cluster_names[job]);
        }
        out_ << ",\"full\":" << (diff.full ? "true" : "false") << ",\"updated\":[";
        const char* separator = "";
        for (const k8s_sd::GroupChange& change : diff.updated) {
            out_ << separator;
            write_change(change);
            separator = ",";
        }
        out_ << "],\"removed\":[";
        separator = "";
        for (const k8s_sd::TargetGroupPtr& group : diff.removed) {
            out_ << separator;
            write_json(out_, group->source());
            separator = ",";
        }
        out_ << "]" << (diff.unconfirmed ? ",\"unconfirmed\":true" : "")
             << (diff.confirms ? ",\"confirms\":true" : "") << "}";
        out_.end_line();
    }

 private:
    void write_change(const k8s_sd::GroupChange& change) {
        const TargetGroup& group = *change.group;
        out_ << "{\"source\":";
        write_json(out_, group.source());
        out_ << ",\"labels\":";
        write_json(out_, group_labels(group));
        out_ << ",\"targets\":[";
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (i > 0) out_ << ",";
            write_json(out_, target_labels(group, i));
        }
        const k8s_sd::TargetChanges targets = change.targets();
        // None of the targets of a replaced object are kept.
        const std::size_t removed =
            change.replaced && change.previous ? change.previous->size() : targets.removed.size();
        out_ << "],\"added\":" << std::to_string(targets.added.size())
             << ",\"removed\":" << std::to_string(removed)
             << ",\"kept\":" << std::to_string(targets.kept.size()) << "}";
    }

    LineWriter& out_;
    const Options& options_;
};

}  // namespace

std::unique_ptr<Reporter> make_json_reporter(LineWriter& out, const Options& options) {
    return std::make_unique<JsonReporter>(out, options);
}

}  // namespace discover
