#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/target_group.hpp"

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class SourceState;
}

/// Targets discovered by the host itself: from DNS, a database, an API of its own. The host adds
/// the source to Job::sources and feeds it with set() or update(); the jobs receive diffs, and have
/// throttling, snapshots and status, as with targets of Kubernetes.
///
/// \par Handles
/// Copies are handles of the same source and compare equal; separately constructed sources do not.
/// A job with a handle keeps the source alive. A source may be in any number of jobs and managers,
/// and may be added and removed with their configurations: it keeps its groups.
///
/// \par Thread safety
/// All members may be called from any thread, also in the callback of a manager. They never call
/// back. Assigning to a handle must not overlap with other uses of that handle.
class K8S_SD_EXPORT TargetSource {
 public:
    /// A source without targets, not listed yet.
    TargetSource();
    /// Another handle of the same source. There is no move, since it would leave an empty handle.
    TargetSource(const TargetSource&) noexcept = default;
    /// Makes this a handle of the same source.
    TargetSource& operator=(const TargetSource&) noexcept = default;
    ~TargetSource() = default;

    /// Replaces all groups of the source and marks it as listed; clears fail(). Groups without
    /// targets are ignored. A group equal to its predecessor causes no diff.
    /// \throws ConfigError for a null pointer and for two groups of one source; the source is
    ///         unchanged in both cases
    void set(const std::vector<TargetGroupPtr>& groups);
    /// Replaces each group by its source; a group without targets removes the previous one. Clears
    /// fail(). Jobs see no targets before the first set(), since the list is incomplete until then.
    /// \throws ConfigError as set() does
    void update(const std::vector<TargetGroupPtr>& groups);
    /// Reports that the targets cannot be determined at present: until set() or update(), the
    /// status of the source is errc::source_failed with this text. Removes nothing.
    /// \param message  for operators, without secrets; unprintable characters are removed, and the
    ///                 text is cut off after 400 bytes
    void fail(const std::string& message);

    /// Equal for handles of the same source; otherwise the order has no meaning.
    friend std::strong_ordering operator<=>(const TargetSource& a, const TargetSource& b) noexcept {
        return std::compare_three_way()(a.impl_.get(), b.impl_.get());
    }
    /// Whether both are handles of the same source.
    friend bool operator==(const TargetSource& a, const TargetSource& b) noexcept {
        return a.impl_ == b.impl_;
    }

 private:
    friend struct detail::Access;

    std::shared_ptr<detail::SourceState> impl_;
};

}  // namespace k8s_sd::inline v0
