#include "reporter.hpp"
#include "target_pairs.hpp"
#include "text_labels.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

namespace discover {

namespace {

using k8s_sd::GroupChange;
using k8s_sd::TargetGroup;
using k8s_sd::TargetGroupDiff;
using k8s_sd::TargetGroupPtr;

/// Lines for one diff; further ones are counted only. The other formats print everything.
constexpr std::size_t most_lines = 40;

std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::localtime_r(&now, &parts);
    char text[16];
    return {text, std::strftime(text, sizeof(text), "%H:%M:%S", &parts)};
}

std::string heading(const Options& options, const std::string& server) {
    const auto& config = options.config;
    std::string text = "Discovering targets of role " + std::string(to_string(config.role)) +
                       " at " + server + (options.sim ? " (a simulated cluster)" : "") + ", ";
    std::string names;
    for (const std::string& name : config.namespaces) (names += names.empty() ? "" : ", ") += name;
    if (config.own_namespace) (names += names.empty() ? "" : ", ") += "own";
    text += names.empty() ? "all namespaces" : "namespaces: " + names;
    if (options.jobs > 1) text += ", " + counted(options.jobs, "job");
    return text + ".";
}

class TextReporter final : public Reporter {
 public:
    TextReporter(LineWriter& out, const Options& options, const std::string& server)
        : out_(out), options_(options) {
        line(heading(options, server));
    }

    void diff(unsigned job, const TargetGroupDiff& diff) override {
        start_ = time_of_day() + "  ";
        if (options_.jobs > 1) start_ += "[job " + std::to_string(job) + "] ";
        lines_left_ = most_lines;
        lines_left_out_ = 0;
        if (diff.full) {
            show_state(diff);
        } else {
            for (const TargetGroupPtr& group : diff.removed) show_removed(*group);
            for (const GroupChange& change : diff.updated) show_change(change);
        }
        if (lines_left_out_ == 0) return;
        line(start_ + "... and " + counted(lines_left_out_, "more line") +
             "; --output json prints everything");
    }

    void synced() override {
        if (options_.once) return;
        line("From now on: + added, - removed, ~ changed. Ctrl-C ends.");
    }

    void comment(const std::string& text) override {
        line(time_of_day() + "  # " + printable(text));
    }

 private:
    void show_state(const TargetGroupDiff& diff) {
        std::vector<const TargetGroup*> groups;
        std::size_t targets = 0;
        for (const GroupChange& change : diff.updated) {
            groups.push_back(change.group.get());
            targets += change.group->size();
        }
        std::sort(groups.begin(), groups.end(), [](const TargetGroup* a, const TargetGroup* b) {
            return a->source() < b->source();
        });
        line(start_ + counted(targets, "target") + " of " + counted(groups.size(), "object") +
             " now" + (targets == 0 ? "." : ":"));
        for (const TargetGroup* group : groups) {
            limited("  " + printable(group->source()));
            for (std::size_t i = 0; i < group->size(); ++i) {
                limited("    " + printable(address_of(*group, i)) + "  " + telling(*group, i));
            }
        }
    }

    void show_removed(const TargetGroup& group) {
        for (std::size_t i = 0; i < group.size(); ++i) show_target("- ", group, i, "");
    }

    void show_change(const GroupChange& change) {
        const TargetGroup& group = *change.group;
        const TargetPairs pairs = pair_targets(change);
        for (const std::size_t i : pairs.removed) show_target("- ", *change.previous, i, "");
        for (const std::size_t i : pairs.added) show_target("+ ", group, i, telling(group, i));
        if (pairs.group_labels_changed) {
            limited(start_ + "~ " + printable(group.source()) + " (" +
                    counted(group.size(), "target") + ")  " +
                    differences(change.previous->labels(), group.labels()));
        }
        for (const auto& [before, after] : pairs.changed) {
            show_target("~ ", group, after, differences((*change.previous)[before], group[after]));
        }
    }

    void show_target(const char* sign, const TargetGroup& group, std::size_t target,
                     const std::string& text) {
        limited(start_ + sign + printable(group.source()) + " " +
                printable(address_of(group, target)) + (text.empty() ? "" : "  " + text));
    }

    std::string telling(const TargetGroup& group, std::size_t target) const {
        return telling_labels(options_.config.role, group, target);
    }

    void limited(const std::string& text) {
        if (lines_left_ == 0) {
            ++lines_left_out_;
        } else {
            --lines_left_;
            line(text);
        }
    }

    void line(const std::string& text) {
        out_ << text;
        out_.end_line();
    }

    LineWriter& out_;
    const Options& options_;
    std::string start_;
    std::size_t lines_left_ = 0;
    std::size_t lines_left_out_ = 0;
};

}  // namespace

std::unique_ptr<Reporter> make_text_reporter(LineWriter& out, const Options& options,
                                             const std::string& server) {
    return std::make_unique<TextReporter>(out, options, server);
}

}  // namespace discover
