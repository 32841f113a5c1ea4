#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/target_group.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Makes target groups that do not come from Kubernetes, for a TargetSource. Groups of one maker
/// share the names of their labels: a host with many groups keeps one. Not thread-safe; the groups
/// are.
class K8S_SD_EXPORT TargetGroupMaker {
 public:
    TargetGroupMaker();
    TargetGroupMaker(TargetGroupMaker&&) noexcept;
    TargetGroupMaker& operator=(TargetGroupMaker&&) noexcept;
    ~TargetGroupMaker();

    /// \param source   tells the group from the others of the same TargetSource
    /// \param labels   that all targets have in common
    /// \param targets  labels of each, `__address__` among them; they override `labels`. None: the
    ///                 group says that there is nothing from this source any more
    /// \throws ConfigError for a source that is empty, a label without a name, text that is not
    ///         UTF-8, more than 1 000 000 targets, and more than 64 KiB of source or 1 GiB of
    ///         labels
    TargetGroupPtr make(std::string_view source, const LabelMap& labels,
                        const std::vector<LabelMap>& targets);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
