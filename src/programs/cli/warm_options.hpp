#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/warm_start.hpp"

namespace cli {

/// The options for snapshots of targets across restarts.
Section warm_options(k8s_sd::WarmStart&);

/// Creates the directory if missing, but not its parent. Does nothing without one.
/// \throws UsageError if it cannot be created, or is no directory
void make_snapshot_directory(const k8s_sd::WarmStart&);

}  // namespace cli
