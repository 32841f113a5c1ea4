#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/target_group.hpp"

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class SourceState;
}

/// Targets that a host finds itself: from DNS, a database, an API of its own. The host puts the
/// source into Job::sources and tells it what there is; the jobs that have it get diffs,
/// throttling, snapshots and status as with targets of Kubernetes.
///
/// \par Handles
/// Copies are handles of the same source, and are equal; others are not. A job that has a handle
/// keeps the source alive. A source may be in any number of jobs and managers, and come and go
/// with their configurations: what it was told stays.
///
/// \par Thread safety
/// All members may be called from any thread, also in the callback of a manager. They never call
/// back. Assigning to a handle must not overlap with other uses of that handle.
class K8S_SD_EXPORT TargetSource {
 public:
    /// A source that knows nothing yet.
    TargetSource();
    /// Another handle of the same source. There is no move, which would leave a handle of none.
    TargetSource(const TargetSource&) noexcept = default;
    /// The same.
    TargetSource& operator=(const TargetSource&) noexcept = default;
    ~TargetSource() = default;

    /// Makes these the groups of the source, and the source one that has been listed; clears
    /// fail(). Groups without targets count as none. What is equal to what is known is no change.
    /// \throws ConfigError for a null pointer and for two groups of one source; nothing has changed
    ///         then
    void set(const std::vector<TargetGroupPtr>& groups);
    /// Each group replaces the one of the same source; one without targets takes it away. Clears
    /// fail(). Before the first set() jobs are not told: the list is not complete.
    /// \throws ConfigError as set() does
    void update(const std::vector<TargetGroupPtr>& groups);
    /// The targets cannot be found out now: errc::source_failed with this text is the status of the
    /// source until set() or update(). Nothing is removed.
    /// \param message  for people, who must find no secrets in it; what does not print is left out,
    /// and
    ///                 what exceeds 400 bytes
    void fail(const std::string& message);

    /// Whether it is the same source; the order of others has no meaning.
    friend std::strong_ordering operator<=>(const TargetSource& a, const TargetSource& b) noexcept {
        return std::compare_three_way()(a.state_.get(), b.state_.get());
    }
    /// Whether it is the same source.
    friend bool operator==(const TargetSource& a, const TargetSource& b) noexcept {
        return a.state_ == b.state_;
    }

    /// Of the library itself.
    const std::shared_ptr<detail::SourceState>& state() const noexcept { return state_; }

 private:
    std::shared_ptr<detail::SourceState> state_;
};

}  // namespace k8s_sd::inline v0
