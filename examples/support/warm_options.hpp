#pragma once

#include "k8s_sd/warm_start.hpp"
#include "support/command_line.hpp"

namespace support {

/// The options that say where targets are kept over restarts.
Section warm_options(k8s_sd::WarmStart&);

/// Makes the directory if it is missing; the one above it must be there. Does nothing without one.
/// \throws UsageError if it cannot be made, or is none
void make_snapshot_directory(const k8s_sd::WarmStart&);

}  // namespace support
