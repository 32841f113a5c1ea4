#pragma once

#include "k8s_sd/config.hpp"

namespace k8s_sd::test {

/// Most tests use separate LIST and WATCH requests. Tests of streamed lists enable them explicitly,
/// and the property tests draw one or the other.
inline WatchOptions plain_lists(WatchOptions options = {}) {
    options.watch_list = false;
    return options;
}

}  // namespace k8s_sd::test
