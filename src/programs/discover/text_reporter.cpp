#include "cli/terminal.hpp"
#include "reporter.hpp"
#include "target_pairs.hpp"
#include "text_labels.hpp"
#include "time_of_day.hpp"

#include <unistd.h>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace discover {

namespace {

using cli::counted;
using cli::printable;
using cli::StyledLine;
using cli::Tone;
using k8s_sd::GroupChange;
using k8s_sd::TargetGroup;
using k8s_sd::TargetGroupDiff;
using k8s_sd::TargetGroupPtr;

/// Maximum of lines for one diff; further ones are only counted. Other formats print everything.
constexpr std::size_t max_lines = 40;

std::string heading(const Options& options, const std::string& server) {
    const auto& config = options.config;
    std::string text = "Discovering targets of role " + std::string(to_string(config.role)) +
                       " at " + server + (options.sim ? " (a simulated cluster)" : "") + ", ";
    std::string names;
    for (const std::string& name : config.namespaces) (names += names.empty() ? "" : ", ") += name;
    if (config.own_namespace) (names += names.empty() ? "" : ", ") += "own";
    text += names.empty() ? "all namespaces" : "namespaces: " + names;
    if (options.cluster_names.empty() && options.jobs > 1)
        text += ", " + counted(options.jobs, "job");
    return text + ".";
}

/// In a file or pipe each changed target has a line with all details. On a terminal lines fit the
/// window, and targets with equal changes share one.
class TextReporter final : public Reporter {
 public:
    TextReporter(LineWriter& out, const Options& options, const std::string& server)
        : out_(out), options_(options), terminal_(STDOUT_FILENO, options.colours) {
        line(StyledLine().add(heading(options, server), Tone::heading));
    }

    void diff(unsigned job, const TargetGroupDiff& diff) override {
        start_ = time_of_day(options_) + "  ";
        if (!options_.cluster_names.empty()) {
            start_ += "[" + printable(options_.cluster_names[job]) + "] ";
        } else if (options_.jobs > 1) {
            start_ += "[job " + std::to_string(job) + "] ";
        }
        lines_left_ = max_lines;
        lines_left_out_ = 0;
        if (diff.full) {
            show_state(diff);
        } else {
            for (const TargetGroupPtr& group : diff.removed) show_removed(*group);
            for (const GroupChange& change : diff.updated) show_change(change);
        }
        if (lines_left_out_ == 0) return;
        line(beginning().add("... and " + counted(lines_left_out_, "more line") +
                             "; --output json prints everything"));
    }

    void synced() override {
        if (options_.once) return;
        line(StyledLine()
                 .add("From now on: ")
                 .add("+ added", Tone::added)
                 .add(", ")
                 .add("- removed", Tone::removed)
                 .add(", ")
                 .add("~ changed", Tone::changed)
                 .add(". Ctrl-C ends."));
    }

    bool comment(const std::string& text) override {
        line(StyledLine()
                 .add(time_of_day(options_) + "  ", Tone::faint)
                 .add("# " + printable(text, 2000), Tone::note));
        return true;
    }

 private:
    StyledLine beginning() const { return StyledLine().add(start_, Tone::faint); }

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
        line(beginning().add(counted(targets, "target") + " of " +
                             counted(groups.size(), "object") + " now" +
                             (targets == 0 ? "." : ":")));
        for (const TargetGroup* group : groups) {
            limited(StyledLine().add("  " + printable(group->source()), Tone::heading));
            for (std::size_t i = 0; i < group->size(); ++i) {
                limited(StyledLine()
                            .add("    " + printable(address_of(*group, i)))
                            .add("  " + distinctive(*group, i), Tone::faint));
            }
        }
    }

    void show_removed(const TargetGroup& group) {
        for (std::size_t i = 0; i < group.size(); ++i) show_target(Tone::removed, group, i, "");
    }

    void show_change(const GroupChange& change) {
        const TargetGroup& group = *change.group;
        const TargetPairs pairs = pair_targets(change);
        for (const std::size_t i : pairs.removed) {
            show_target(Tone::removed, *change.previous, i, "");
        }
        for (const std::size_t i : pairs.added) {
            show_target(Tone::added, group, i, distinctive(group, i));
        }
        if (pairs.group_labels_changed) {
            show(Tone::changed, group, "(" + counted(group.size(), "target") + ")",
                 differences_of(change.previous->labels(), group.labels()));
        }
        if (terminal_.is_for_people()) return show_alike(change, pairs);
        for (const auto& [before, after] : pairs.changed) {
            show_target(Tone::changed, group, after,
                        differences_of((*change.previous)[before], group[after]));
        }
    }

    /// Prints the changed targets, those with equal differences together.
    void show_alike(const GroupChange& change, const TargetPairs& pairs) {
        std::vector<std::pair<std::string, std::vector<std::size_t>>> alike;
        for (const auto& [before, after] : pairs.changed) {
            std::string text = differences_of((*change.previous)[before], (*change.group)[after]);
            const auto it = std::find_if(alike.begin(), alike.end(),
                                         [&](const auto& entry) { return entry.first == text; });
            if (it == alike.end()) {
                alike.push_back({std::move(text), {after}});
            } else {
                it->second.push_back(after);
            }
        }
        for (const auto& [text, targets] : alike) {
            std::string addresses = printable(address_of(*change.group, targets.front()));
            if (targets.size() > 1) {
                addresses += " and " + std::to_string(targets.size() - 1) + " more";
            }
            show(Tone::changed, *change.group, addresses, text);
        }
    }

    void show_target(Tone tone, const TargetGroup& group, std::size_t target,
                     const std::string& text) {
        show(tone, group, printable(address_of(group, target)), text);
    }

    /// \param which  description of the target within the group
    void show(Tone tone, const TargetGroup& group, const std::string& which,
              const std::string& text) {
        const char* sign = tone == Tone::added ? "+ " : tone == Tone::removed ? "- " : "~ ";
        StyledLine what = beginning().add(sign + printable(group.source()), tone).add(" " + which);
        if (!text.empty()) what.add("  " + text, tone == Tone::added ? Tone::faint : Tone::plain);
        limited(what);
    }

    std::string distinctive(const TargetGroup& group, std::size_t target) const {
        return distinctive_labels(options_.config.role, group, target);
    }

    std::string differences_of(const k8s_sd::Labels& before, const k8s_sd::Labels& after) const {
        const bool short_names = terminal_.is_for_people();
        return differences(before, after,
                           short_names ? std::optional(options_.config.role) : std::nullopt);
    }

    void limited(const StyledLine& text) {
        if (lines_left_ == 0) {
            ++lines_left_out_;
        } else {
            --lines_left_;
            line(text);
        }
    }

    void line(const StyledLine& text) {
        out_ << terminal_.fitted(text);
        out_.end_line();
    }

    LineWriter& out_;
    const Options& options_;
    cli::Terminal terminal_;
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
