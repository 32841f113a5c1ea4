#pragma once

#include "k8s_sd/discoverer.hpp"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Merged labels of all targets by source.
using TargetState = std::map<std::string, std::vector<LabelMap>>;

inline std::vector<LabelMap> merged(const TargetGroup& group) {
    std::vector<LabelMap> targets;
    for (std::size_t i = 0; i < group.size(); ++i) targets.push_back(group.merged(i));
    return targets;
}

/// A host with one discoverer. Applies the diffs, and is strict about them: each has to be
/// exactly what changed.
class Host {
 public:
    Host(boost::asio::any_io_executor executor, const DiscoveryConfig& config) {
        discoverer.emplace(std::move(executor), config,
                           [this](const TargetGroupDiff& diff) { apply(diff); });
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    Host& run() {
        discoverer->async_run([end = end_](error_code ec) { *end = ec; });
        return *this;
    }

    TargetState state() const {
        TargetState result;
        for (const auto& [source, group] : groups) result.emplace(source, merged(*group));
        return result;
    }
    /// A label of the only target of a source; "" without the label or the source.
    std::string label(const std::string& source, const std::string& name) const {
        const auto group = groups.find(source);
        if (group == groups.end()) return {};
        const LabelMap labels = group->second->merged(0);
        const auto it = labels.find(name);
        return it == labels.end() ? std::string() : it->second;
    }
    /// The sources of the diffs since the last call: "~source" updated, "-source" removed, each
    /// diff in brackets.
    std::string take_diffs() { return std::exchange(log_, {}); }

    /// What async_run() completed with.
    const std::optional<error_code>& ended() const noexcept { return *end_; }

    std::optional<Discoverer> discoverer;
    std::map<std::string, TargetGroupPtr> groups;
    std::size_t diffs = 0;
    std::string complaints;  ///< what was wrong with the diffs; "" if nothing was
    std::function<void(const TargetGroupDiff&)> after_diff;

 private:
    void apply(const TargetGroupDiff& diff) {
        const bool first = diffs++ == 0;
        if (diff.full != first) complain("diff", first ? "the first is not full" : "full again");
        if (diff.empty()) complain("diff", "nothing in it");
        std::map<std::string, TargetGroupPtr> entries;  // sorted, for take_diffs()
        for (const GroupChange& change : diff.updated) {
            add(entries, change.group, "~");
            update(change);
        }
        for (const TargetGroupPtr& group : diff.removed) {
            add(entries, group, "-");
            remove(group);
        }
        log_ += '[';
        for (const auto& [text, group] : entries) log_ += (log_.back() == '[' ? "" : " ") + text;
        log_ += ']';
        if (after_diff) after_diff(diff);
    }
    void add(std::map<std::string, TargetGroupPtr>& entries, const TargetGroupPtr& group,
             const std::string& prefix) {
        const std::string source(group->source());
        if (entries.contains("~" + source) || entries.contains("-" + source)) {
            complain(source, "twice in a diff");
        }
        entries.emplace(prefix + source, group);
    }
    void update(const GroupChange& change) {
        const std::string source(change.group->source());
        TargetGroupPtr& known = groups[source];
        if (!same(change.previous, known)) complain(source, "`previous` is not what the host had");
        if (change.group->size() == 0) complain(source, "a group without targets");
        if (known && !change.replaced && merged(*known) == merged(*change.group)) {
            complain(source, "unchanged");
        }
        known = change.group;
    }
    void remove(const TargetGroupPtr& group) {
        const std::string source(group->source());
        const auto known = groups.find(source);
        if (known == groups.end()) return complain(source, "removed but was not there");
        if (!same(known->second, group))
            complain(source, "removed another group than the host had");
        groups.erase(known);
    }
    // Of equal groups a host may be told of another one than it has.
    static bool same(const TargetGroupPtr& a, const TargetGroupPtr& b) {
        return a == b || (a && b && merged(*a) == merged(*b));
    }
    void complain(const std::string& source, const std::string& problem) {
        complaints += source + ": " + problem + "\n";
    }

    std::string log_;
    // The handler is called after the discoverer is gone, perhaps after the host.
    std::shared_ptr<std::optional<error_code>> end_ = std::make_shared<std::optional<error_code>>();
};

}  // namespace k8s_sd::test
