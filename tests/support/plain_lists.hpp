#pragma once

#include "k8s_sd/config.hpp"

namespace k8s_sd::test {

/// Most tests are about LIST and WATCH as requests of their own. Those about lists that come as the
/// first events of a watch say so, and the properties draw one or the other.
inline WatchOptions plain_lists(WatchOptions options = {}) {
    options.watch_list = false;
    return options;
}

}  // namespace k8s_sd::test
