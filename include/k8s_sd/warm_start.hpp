#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// Keeps the target groups of a configuration in a file, so a program started while the API server
/// is unreachable has its targets. Such targets are *unconfirmed*, see
/// TargetGroupDiff::unconfirmed: another workload may own the address by now. Content of a file
/// never removes anything, and the first list delivers only the differences.
///
/// The file has labels and addresses, no Secrets and no resource versions. It is written with mode
/// 0600 into a directory of mode 0700, owned by the program's user and used by one program at a
/// time. A file of another cluster, configuration or version, or a damaged or too old one, is
/// ignored, with one line in the log and in the status.
struct WarmStart {
    std::string directory{};  ///< created if missing, but not its parents; empty: no files
    /// How long to wait for the API server before delivering the targets of the file. Zero: deliver
    /// them at once.
    Duration server_timeout = std::chrono::seconds(5);
    /// Older files are ignored. A running program rewrites its file before that age, even without
    /// changes.
    Duration max_age = std::chrono::hours(1);
    /// Minimum time between two writes after changes, with jitter of up to a half.
    Duration write_interval = std::chrono::seconds(30);
    /// Maximum size of a file to read or write.
    std::size_t max_bytes = std::size_t{256} << 20;
    /// Annotations may be credentials, so the file has only those whose names begin with one of
    /// these prefixes, written as in labels: "prometheus_io_" for "prometheus.io/scrape". The empty
    /// string selects all. A group with omitted annotations is delivered again after the first
    /// list.
    std::vector<std::string> annotations{"prometheus_io_"};
    auto operator<=>(const WarmStart&) const = default;
};

/// \throws ConfigError for a negative time, and for zero max_bytes
K8S_SD_EXPORT void validate(const WarmStart&);

}  // namespace k8s_sd::inline v0
