#pragma once

#include "k8s_sd/target_group.hpp"

#include <cstddef>
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

/// Merged labels of all targets by source.
using TargetsBySource = std::map<std::string, std::vector<LabelMap>>;

/// The groups of a host that applies diffs, with strict checks: each diff must contain exactly the
/// changes.
class GroupLedger {
 public:
    /// The identity of old groups that a diff may reference.
    enum class Known {
        equal,  ///< any equal group: the host may have received another instance
        same,   ///< the instance that the host received
    };
    explicit GroupLedger(Known known = Known::equal) : known_(known) {}

    /// \returns the sources of the diff in brackets: "~source" updated, "-source" removed
    std::string apply(const TargetGroupDiff& diff) {
        std::map<std::string, TargetGroupPtr> entries;  // sorted
        for (const GroupChange& change : diff.updated) {
            if (!change.group) {
                complain("diff", "an update without group");
                continue;
            }
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
    TargetsBySource state() const {
        TargetsBySource result;
        for (const auto& [source, group] : groups) result.emplace(source, merged(*group));
        return result;
    }

    std::map<std::string, TargetGroupPtr> groups;
    std::string complaints;  ///< problems of the diffs; "" if there are none

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
    bool same(const TargetGroupPtr& a, const TargetGroupPtr& b) const {
        return a == b || (known_ == Known::equal && a && b && merged(*a) == merged(*b));
    }

    Known known_;
};

/// The groups of a host with one discoverer.
class DiscoveryLedger : public GroupLedger {
 public:
    using GroupLedger::GroupLedger;

    std::string apply(const TargetGroupDiff& diff) {
        const bool first = diffs++ == 0;
        if (diff.full != first) complain("diff", first ? "the first is not full" : "full again");
        if (diff.empty()) complain("diff", "nothing in it");
        if (diff.more) ++parts;
        return GroupLedger::apply(diff);
    }

    std::size_t diffs = 0;
    std::size_t parts = 0;  ///< diffs with a rest that followed
};

}  // namespace k8s_sd::test
