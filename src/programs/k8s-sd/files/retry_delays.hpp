#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace k8s_sd_program {

/// Delays between retries: one second, doubled each time, up to a minute; shortened at random, to
/// spread the retries of many files.
class RetryDelays {
 public:
    explicit RetryDelays(unsigned seed) : random_(seed) {}

    std::chrono::milliseconds next() {
        const auto wait = next_;
        next_ = std::min(next_ * 2, max);
        return std::chrono::milliseconds(
            std::uniform_int_distribution<std::chrono::milliseconds::rep>(wait.count() / 2,
                                                                          wait.count())(random_));
    }
    void reset() { next_ = min; }

 private:
    static constexpr std::chrono::milliseconds min{1'000};
    static constexpr std::chrono::milliseconds max{60'000};

    std::minstd_rand random_;
    std::chrono::milliseconds next_ = min;
};

}  // namespace k8s_sd_program
