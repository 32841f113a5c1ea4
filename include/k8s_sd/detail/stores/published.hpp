#pragma once

#include "k8s_sd/detail/stores/readers.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <atomic>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A pointer to an immutable value, replaced by one writer and read by any thread. Neither readers
/// nor the writer wait. `Value` has an intrusive counter, see boost::intrusive_ptr.
template <class Value>
class Published {
 public:
    using Ptr = boost::intrusive_ptr<const Value>;

    /// \param first  not null
    explicit Published(Ptr first) noexcept : current_(first.detach()) {}
    ~Published() { Ptr(current_, false); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    /// Calls `function` with the current value, alive until the call returns. Touches no counter
    /// shared with other threads.
    template <class Function>
    decltype(auto) read(Function&& function) const {
        const Readers::Mark mark(readers_);
        return std::forward<Function>(function)(*current_.load());
    }
    /// The current value, with shared ownership.
    Ptr get() const {
        return read([](const Value& value) { return Ptr(&value); });
    }

    // For the writer; one call at a time.

    /// \param next  not null
    void publish(Ptr next) {
        replaced_.reserve(replaced_.size() + 1);
        replaced_.emplace_back(current_.exchange(next.detach()), false);
        release_replaced();
    }
    /// Releases replaced values without remaining readers.
    void release_replaced() {
        while (!leaving_.empty() || !replaced_.empty()) {
            if (leaving_.empty()) {
                leaving_.swap(replaced_);
                sides_left_ = 2;
                readers_.change_side();
            }
            if (!readers_.none(readers_.side() ^ 1U)) return;
            if (--sides_left_ > 0) {
                readers_.change_side();
            } else {
                leaving_.clear();
            }
        }
    }

 private:
    Readers readers_;
    std::atomic<const Value*> current_;
    std::vector<Ptr> replaced_;  // replaced after those of leaving_
    std::vector<Ptr> leaving_;
    int sides_left_ = 0;  // sides not seen empty since the last of leaving_ was replaced
};

}  // namespace k8s_sd::inline v0::detail
