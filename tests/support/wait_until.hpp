#pragma once

#include <chrono>
#include <thread>

namespace k8s_sd::test {

/// Waits for other threads or processes; false if that takes unreasonably long.
template <class Done>
bool wait_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace k8s_sd::test
