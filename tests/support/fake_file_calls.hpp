#pragma once

#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Reads files within the call, or when the test completes them. For one thread.
class FakeFileCalls final : public FileCalls {
 public:
    bool run(std::function<void()> call) override {
        ++asked;
        if (hangs) {
            stuck_.push_back(std::move(call));
        } else {
            call();
        }
        return true;
    }
    /// Completes the hanging reads.
    void answer() {
        hangs = false;
        for (const auto& call : std::exchange(stuck_, {})) call();
    }
    std::size_t stuck() const noexcept { return stuck_.size(); }

    bool hangs = false;
    int asked = 0;

 private:
    std::vector<std::function<void()>> stuck_;
};

}  // namespace k8s_sd::test
