#pragma once

#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <string>

namespace discover {

/// The status of a watch in one line: "pods: waits for events for 12 s; last byte 3 s ago, …".
std::string watch_line(const k8s_sd::WatchStatus&, k8s_sd::TimePoint now);

}  // namespace discover
