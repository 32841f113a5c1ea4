#pragma once

#include <sys/types.h>
#include <chrono>

namespace bench {

/// A process between client and server: forwards the bytes of each connection after a delay, in
/// each direction, at any rate.
struct Delay {
    unsigned short port = 0;
    pid_t process = -1;
};
Delay delay(unsigned short to, std::chrono::milliseconds each_way);
void stop(const Delay&);

}  // namespace bench
