#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Reads and writes files within the call, on the test's thread, unless held. A held call is one
/// that hangs, as on a network file system without its server. For one thread.
class K8S_SD_EXPORT ManualFiles final : public FileCalls {
 public:
    ~ManualFiles() override;
    bool run(std::function<void()> call) override;

    /// Holds all calls from now on.
    void hold() noexcept { holding_ = true; }
    /// Performs the held calls, and later ones at once.
    void release();
    /// Number of held calls.
    std::size_t held() const noexcept { return held_.size(); }
    /// Number of calls so far, including held ones.
    std::size_t calls() const noexcept { return calls_; }

 private:
    bool holding_ = false;
    std::size_t calls_ = 0;
    std::vector<std::function<void()>> held_;
};

}  // namespace k8s_sd::inline v0::sim
