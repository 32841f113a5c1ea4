#pragma once

#include <atomic>
#include <memory>

namespace bridge {

/// Lets so many in at a time. Copies are the same gate. Any thread.
class Gate {
 public:
    using Pass = std::shared_ptr<const void>;

    explicit Gate(int most) : most_(most) {}

    /// Inside until the last copy of the pass is gone. Null: so many are inside already.
    Pass enter() const {
        if (++*inside_ <= most_) {
            return {inside_.get(), [inside = inside_](const void*) { --*inside; }};
        }
        --*inside_;
        return nullptr;
    }
    int most() const noexcept { return most_; }

 private:
    int most_;
    std::shared_ptr<std::atomic<int>> inside_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace bridge
