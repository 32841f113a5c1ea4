#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/target_group.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Makes the target groups of a TargetSource, for targets from elsewhere than Kubernetes. Groups of
/// one maker share their label names, so a host with many groups keeps one maker. Not thread-safe,
/// but its groups are.
class K8S_SD_EXPORT TargetGroupMaker {
 public:
    TargetGroupMaker();
    TargetGroupMaker(TargetGroupMaker&&) noexcept;
    TargetGroupMaker& operator=(TargetGroupMaker&&) noexcept;
    ~TargetGroupMaker();

    /// \param source   identifies the group within the TargetSource
    /// \param labels   labels common to all targets
    /// \param targets  labels of each target, including `__address__`; they override `labels`.
    ///                 Empty: the group removes the previous one of this source
    /// \throws ConfigError for an empty source, a label without a name, text in another encoding
    ///         than UTF-8, more than 1 000 000 targets, and more than 64 KiB of source or 1 GiB of
    ///         labels
    TargetGroupPtr make(std::string_view source, const LabelMap& labels,
                        const std::vector<LabelMap>& targets);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
