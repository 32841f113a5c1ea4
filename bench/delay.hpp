#pragma once

#include "child.hpp"

#include <chrono>

namespace bench {

/// A process between client and server: forwards the bytes of each connection after a delay, in
/// each direction, at any rate.
struct Delay : Child {
    unsigned short port = 0;
};
Delay delay(unsigned short to, std::chrono::milliseconds each_way);

}  // namespace bench
