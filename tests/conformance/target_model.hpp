#pragma once

#include "k8s_sd/role.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// A host that applies the diffs of one discoverer and is strict about them: a diff has to be
/// exactly what changed.
class TargetModel {
 public:
    void apply(const TargetGroupDiff& diff);

    /// What was wrong with the diffs so far, one line each; "" if nothing was.
    const std::string& complaints() const noexcept { return complaints_; }
    std::size_t diffs() const noexcept { return diffs_; }
    /// Merged labels of all targets by source, without labels of empty value.
    std::map<std::string, std::vector<LabelMap>> groups() const;
    /// The same of all sources in one list. Role node: without "instance", which the corpus
    /// leaves out as it is not a meta label.
    std::vector<LabelMap> targets(Role role) const;

 private:
    void update(const GroupChange& change);
    void remove(const TargetGroupPtr& group);
    void complain(const std::string& source, const std::string& problem);

    std::map<std::string, TargetGroupPtr> groups_;
    std::size_t diffs_ = 0;
    std::string complaints_;
};

}  // namespace k8s_sd::test
