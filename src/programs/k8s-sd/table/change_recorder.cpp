#include "table/change_recorder.hpp"

#include "cli/terminal_text.hpp"
#include "lists/listed_target.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using k8s_sd::ScrapeTarget;
using k8s_sd::ScrapeTargetPtr;

constexpr std::size_t max_labels = 5;         // described in a change
constexpr std::size_t max_value_bytes = 100;  // of a value

bool same_place(const ScrapeTarget& a, const ScrapeTarget& b) {
    return a.source() == b.source() && a.index() == b.index();
}

std::string shown(std::string_view value) {
    if (value.size() <= max_value_bytes) return std::string(value);
    return std::string(cut(value, max_value_bytes)) + "…";
}

/// Describes the labels with different values.
std::string difference(const ScrapeTarget& before, const ScrapeTarget& now) {
    std::string text;
    std::size_t described = 0;
    const auto describe_label = [&](std::string_view name, std::string_view from,
                                    std::string_view to) {
        if (from == to || ++described > max_labels) return;
        text += text.empty() ? "" : ", ";
        text += shown(name) + ": " + shown(from) + " -> " + shown(to);
    };
    for (const auto& [name, value] : before.labels()) describe_label(name, value, now.get(name));
    for (const auto& [name, value] : now.labels()) {
        if (before.get(name).empty()) describe_label(name, {}, value);
    }
    if (described > max_labels) text += ", and " + std::to_string(described - max_labels) + " more";
    return text.empty() ? "its URL is " + now.url() : text;
}

TargetChange change_of(std::string_view kind, const std::string& job, const ScrapeTarget& target,
                       std::string what) {
    TargetChange change{.kind = kind, .what = std::move(what)};
    change.id = id_text(target_id(job, discovered_labels(target.group(), target.index())));
    change.address = target.get("__address__");
    change.object = object_of(target.group(), target.index());
    return change;
}

}  // namespace

void ChangeRecorder::Side::add(const ScrapeTargetPtr& target) {
    if (++total <= max_changes_at_once) targets.push_back(target);
}

void ChangeRecorder::started(const ScrapeTargetPtr& target) {
    if (history_) started_.add(target);
}

void ChangeRecorder::stopped(const ScrapeTargetPtr& target) {
    if (history_) stopped_.add(target);
}

void ChangeRecorder::finish(bool full, const WhyGone& why_gone) {
    const std::size_t total = started_.total + stopped_.total;
    if (total == 0) return;
    const bool first = full && stopped_.total == 0;
    if (first || total > max_changes_at_once) {
        history_->add(job_, {all_in_one(first)});
    } else {
        history_->add(job_, one_by_one(why_gone));
    }
    started_ = stopped_ = {};
}

TargetChange ChangeRecorder::all_in_one(bool first) const {
    if (first) {
        return {.kind = "added",
                .what = cli::counted(started_.total, "target") + " of a first list"};
    }
    return {.kind = "changed",
            .what = std::to_string(started_.total) + " targets have come or changed, " +
                    std::to_string(stopped_.total) + " have gone or changed"};
}

/// A target stopped and started at the same index of a group counts as changed.
std::vector<TargetChange> ChangeRecorder::one_by_one(const WhyGone& why_gone) const {
    std::vector<TargetChange> changes;
    std::vector<ScrapeTargetPtr> gone = stopped_.targets;
    for (const ScrapeTargetPtr& now : started_.targets) {
        const auto before = std::find_if(gone.begin(), gone.end(), [&](const auto& target) {
            return same_place(*target, *now);
        });
        if (before == gone.end()) {
            changes.push_back(change_of("added", job_, *now, now->url()));
        } else {
            changes.push_back(change_of("changed", job_, *now, difference(**before, *now)));
            gone.erase(before);
        }
    }
    for (const ScrapeTargetPtr& target : gone) {
        changes.push_back(change_of("removed", job_, *target, target->url()));
        changes.back().reason = cut(why_gone(*target));
    }
    return changes;
}

}  // namespace k8s_sd_program
