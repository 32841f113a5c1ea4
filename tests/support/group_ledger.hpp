#pragma once

#include "k8s_sd/target_group.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

inline std::vector<LabelMap> merged(const TargetGroup& group) {
    std::vector<LabelMap> targets;
    for (std::size_t i = 0; i < group.size(); ++i) targets.push_back(group.merged(i));
    return targets;
}

/// The groups of a host that applies diffs, and is strict about them: each has to be exactly what
/// changed.
class GroupLedger {
 public:
    /// \returns the sources of the diff in brackets: "~source" updated, "-source" removed
    std::string apply(const TargetGroupDiff& diff) {
        std::map<std::string, TargetGroupPtr> entries;  // sorted
        for (const GroupChange& change : diff.updated) {
            add(entries, change.group, "~");
            update(change);
        }
        for (const TargetGroupPtr& group : diff.removed) {
            add(entries, group, "-");
            remove(group);
        }
        std::string text = "[";
        for (const auto& [entry, group] : entries) text += (text.back() == '[' ? "" : " ") + entry;
        return text + ']';
    }
    void complain(const std::string& source, const std::string& problem) {
        complaints += source + ": " + problem + "\n";
    }

    std::map<std::string, TargetGroupPtr> groups;
    std::string complaints;  ///< what was wrong with the diffs; "" if nothing was

 private:
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
        if (!same(known->second, group)) {
            complain(source, "removed another group than the host had");
        }
        groups.erase(known);
    }
    // Of equal groups a host may be told of another one than it has.
    static bool same(const TargetGroupPtr& a, const TargetGroupPtr& b) {
        return a == b || (a && b && merged(*a) == merged(*b));
    }
};

}  // namespace k8s_sd::test
