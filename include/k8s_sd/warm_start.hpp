#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// Keeps the target groups of a configuration in a file, so that a program that starts while the
/// API server is away has its targets. Such targets are *unconfirmed*, see
/// TargetGroupDiff::unconfirmed: an address may belong to somebody else by now. What comes from a
/// file never removes anything, and after the first list only what differs is told.
///
/// The file has labels and addresses, no Secrets and no resource versions. It is written with mode
/// 0600 into a directory of mode 0700 that belongs to the program's user and to one program at a
/// time. A file of another cluster, configuration or version, and one that is damaged or too old,
/// is ignored, with one line in the log and in the status.
struct WarmStart {
    std::string directory{};  ///< made if it is missing, not its parents; empty: no files
    /// The targets of the file are told when the API server has not answered for so long. Zero: at
    /// once.
    Duration patience = std::chrono::seconds(5);
    /// A file that is older is ignored. A program that runs writes it again before that, also where
    /// nothing changes.
    Duration max_age = std::chrono::hours(1);
    /// Least time between two writes, if something has changed; each is later by up to a half.
    Duration write_interval = std::chrono::seconds(30);
    /// Of a file that is read or written.
    std::size_t max_bytes = std::size_t{256} << 20;
    /// Annotations may be credentials, so only those are written whose names begin with one of
    /// these, in the form that they have in labels: "prometheus_io_" for "prometheus.io/scrape".
    /// Empty text: all of them. A group that lacks some is told again after the first list.
    std::vector<std::string> annotations{"prometheus_io_"};
    auto operator<=>(const WarmStart&) const = default;
};

/// \throws ConfigError for a negative time, and for no room
K8S_SD_EXPORT void validate(const WarmStart&);

}  // namespace k8s_sd::inline v0
