#pragma once

#include "k8s_sd/detail/stores/readers.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <atomic>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A pointer to an immutable value, which one writer replaces and any thread reads. Nobody waits.
/// `Value` is counted by itself, see boost::intrusive_ptr.
template <class Value>
class Published {
 public:
    using Ptr = boost::intrusive_ptr<const Value>;

    /// \param first  not null
    explicit Published(Ptr first) noexcept : current_(first.detach()) {}
    ~Published() { Ptr(current_, false); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    /// Calls `function` with the present value, which stays until the call returns. No counter is
    /// touched that others touch.
    template <class Function>
    decltype(auto) read(Function&& function) const {
        const Readers::Mark mark(readers_);
        return std::forward<Function>(function)(*current_.load());
    }
    /// The present value, for as long as the caller likes.
    Ptr get() const {
        return read([](const Value& value) { return Ptr(&value); });
    }

    // The writer; one at a time.

    /// \param next  not null
    void publish(Ptr next) {
        replaced_.reserve(replaced_.size() + 1);
        replaced_.emplace_back(current_.exchange(next.detach()), false);
        release_replaced();
    }
    /// Lets go of the values that were replaced and that nobody is reading any more.
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
    std::vector<Ptr> replaced_;  // since those of leaving_
    std::vector<Ptr> leaving_;
    int sides_left_ = 0;  // that were not empty yet since the last of leaving_ was replaced
};

}  // namespace k8s_sd::inline v0::detail
