#include "tally.hpp"

#include <algorithm>
#include <chrono>

namespace bench {

void Tally::start(std::size_t target, TimePoint now) {
    account(targets_[target], now);
    ++targets_[target].members;
    ++sum_.moved;
}

void Tally::stop(std::size_t target, TimePoint now) {
    account(targets_[target], now);
    --targets_[target].members;
}

void Tally::begin(TimePoint now) {
    begun_ = now;
    for (Target& target : targets_) target.changed = now;
    sum_ = {};
}

Outcome Tally::outcome(TimePoint now) {
    for (Target& target : targets_) account(target, now);
    return sum_;
}

bool Tally::is_even() const noexcept {
    return std::all_of(targets_.begin(), targets_.end(),
                       [&](const Target& target) { return target.members == replicas_; });
}

void Tally::account(Target& target, TimePoint now) {
    const double time = std::chrono::duration<double>(now - target.changed).count();
    if (target.members == 0) {
        sum_.gap_seconds += time;
        sum_.max_gap = std::max(sum_.max_gap, time);
    } else if (target.members > replicas_) {
        sum_.double_seconds += time * (target.members - replicas_);
    }
    target.changed = now;
}

}  // namespace bench
