#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Tracks active readers, so a writer knows when a replaced value is unreachable. Neither side
/// waits: the start and end of a read are one addition each, to a counter rarely shared with
/// another thread.
///
/// A reader marks itself before it loads the pointer to its value. If the writer has stored a new
/// pointer before the mark, the reader sees the new one. So a replaced value can be released once
/// each counter has been 0 at some time since. New readers use the other side of the counters, else
/// those of a busy side might never be 0.
class Readers {
 public:
    /// Marks a reader for the lifetime of the object.
    class Mark {
     public:
        explicit Mark(const Readers& readers) noexcept
            : count_(readers.slots_[this_thread()].readers[readers.side_]) {
            ++count_;
        }
        ~Mark() { count_.fetch_sub(1, std::memory_order_release); }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;

     private:
        std::atomic<std::uint32_t>& count_;
    };

    // For the writer.

    /// The side for new readers.
    unsigned side() const noexcept { return side_; }
    /// Directs new readers to the other side. A delayed one may still use the previous side.
    void change_side() noexcept { side_ = side_ ^ 1U; }
    /// Whether each counter of a side was 0 at the time of its check.
    bool none(unsigned side) const noexcept {
        for (const Slot& slot : slots_) {
            if (slot.readers[side] != 0) return false;
        }
        return true;
    }

 private:
    static constexpr unsigned max_slots = 16;
    /// Counters of one thread, or of several if there are many.
    struct alignas(64) Slot {
        mutable std::array<std::atomic<std::uint32_t>, 2> readers{};
    };
    static unsigned this_thread() noexcept {
        static std::atomic<unsigned> threads = 0;
        thread_local const unsigned slot =
            threads.fetch_add(1, std::memory_order_relaxed) % max_slots;
        return slot;
    }

    std::array<Slot, max_slots> slots_{};
    alignas(64) std::atomic<unsigned> side_ = 0;
};

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
