#pragma once

#include "k8s_sd/sim/manual_clock.hpp"

namespace k8s_sd::test {

using sim::ManualClock;

}  // namespace k8s_sd::test
