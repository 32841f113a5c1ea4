#pragma once

#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Reads files from within the call, or when the test says so. For one thread.
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
    /// What hangs comes to an end.
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
