#pragma once

#include <atomic>
#include <memory>

namespace k8s_sd_program {

/// Limits concurrency. Copies share the limit. Any thread.
class Gate {
 public:
    using Pass = std::shared_ptr<const void>;

    explicit Gate(int max_inside) : max_inside_(max_inside) {}

    /// A pass holds its slot until its last copy is destroyed. Null: all slots are taken.
    Pass enter() const {
        if (++*inside_ <= max_inside_) {
            return {inside_.get(), [inside = inside_](const void*) { --*inside; }};
        }
        --*inside_;
        return nullptr;
    }
    int max_inside() const noexcept { return max_inside_; }

 private:
    int max_inside_;
    std::shared_ptr<std::atomic<int>> inside_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace k8s_sd_program
