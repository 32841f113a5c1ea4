#pragma once

#include "k8s_sd/warm_start.hpp"
#include "support/command_line.hpp"

namespace support {

/// The options that say where targets are kept over restarts.
Section warm_options(k8s_sd::WarmStart&);

}  // namespace support
