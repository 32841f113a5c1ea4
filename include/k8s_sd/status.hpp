#pragma once

#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// How the LIST+WATCH of one URL is doing.
struct WatchStatus {
    Kind kind = Kind::pod;    ///< what is watched
    std::string ns;           ///< empty: all namespaces
    bool synced = false;      ///< has been listed completely at least once
    error_code error;         ///< of the last attempt; none: all is well
    std::string message;      ///< the error in words, and how to mend it; no secrets in it. May
                              ///< quote the server, whose text is not to be trusted.
    unsigned failures = 0;    ///< attempts that failed since the last success
    TimePoint since{};        ///< when `error` took its present value
    std::size_t objects = 0;  ///< that are kept
};

/// How a discoverer is doing. Targets are never dropped because of an error.
struct DiscovererStatus {
    bool synced = false;  ///< every watch has been listed: the first diff was or is delivered
    error_code error;     ///< of the first watch below that has one
    std::string message;  ///< of that watch, see WatchStatus::message
    TimePoint since{};    ///< of that watch, see WatchStatus::since
    std::vector<WatchStatus> watches;  ///< one for each kind and namespace
};

}  // namespace k8s_sd::inline v0
