#include "conformance/target_model.hpp"

#include <set>
#include <utility>

namespace k8s_sd::test {

namespace {

std::vector<LabelMap> merged(const TargetGroup& group) {
    std::vector<LabelMap> targets;
    for (std::size_t i = 0; i < group.size(); ++i) targets.push_back(group.merged(i));
    return targets;
}

}  // namespace

void TargetModel::apply(const TargetGroupDiff& diff) {
    const bool first = diffs_++ == 0;
    if (diff.full != first) complain("diff", first ? "the first one is not full" : "full again");
    if (diff.empty()) complain("diff", "nothing in it");
    std::set<std::string_view> mentioned;
    for (const GroupChange& change : diff.updated) {
        if (!change.group) {
            complain("diff", "an update without group");
            continue;
        }
        if (!mentioned.insert(change.group->source()).second) {
            complain(std::string(change.group->source()), "twice in a diff");
        }
        update(change);
    }
    for (const TargetGroupPtr& group : diff.removed) {
        if (!mentioned.insert(group->source()).second) {
            complain(std::string(group->source()), "twice in a diff");
        }
        remove(group);
    }
}

void TargetModel::update(const GroupChange& change) {
    const std::string source(change.group->source());
    TargetGroupPtr& known = groups_[source];
    if (change.previous != known) complain(source, "`previous` is not what the host had");
    if (change.group->size() == 0) complain(source, "a group without targets");
    if (known && !change.replaced && merged(*known) == merged(*change.group)) {
        complain(source, "unchanged");
    }
    known = change.group;
}

void TargetModel::remove(const TargetGroupPtr& group) {
    const std::string source(group->source());
    const auto known = groups_.find(source);
    if (known == groups_.end()) return complain(source, "removed but was not there");
    if (known->second != group) complain(source, "removed another group than the host had");
    groups_.erase(known);
}

std::map<std::string, std::vector<LabelMap>> TargetModel::groups() const {
    std::map<std::string, std::vector<LabelMap>> result;
    for (const auto& [source, group] : groups_) result.emplace(source, merged(*group));
    return result;
}

std::vector<LabelMap> TargetModel::targets(Role role) const {
    std::vector<LabelMap> result;
    for (const auto& [source, group] : groups_) {
        for (LabelMap& target : merged(*group)) {
            if (role == Role::node) target.erase("instance");
            result.push_back(std::move(target));
        }
    }
    return result;
}

void TargetModel::complain(const std::string& source, const std::string& problem) {
    complaints_ += source + ": " + problem + "\n";
}

}  // namespace k8s_sd::test
