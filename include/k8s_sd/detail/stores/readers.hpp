#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// Which threads are reading, so that a writer knows when nobody can see any more what it has
/// replaced. Neither waits for the other: to begin and to end reading are an addition each, to a
/// counter that seldom has another thread.
///
/// A reader marks itself before it loads the pointer to what it reads. Whoever marks itself after
/// the writer has stored the new pointer finds that one. So what was replaced may go when each
/// counter was seen to be 0 once since then. New readers take the other side of the counters, or
/// those of a busy side might never be 0.
class Readers {
 public:
    /// Is reading as long as it lives.
    class Mark {
     public:
        explicit Mark(const Readers& readers) noexcept
            : count_(readers.places_[this_thread()].readers[readers.side_]) {
            ++count_;
        }
        ~Mark() { count_.fetch_sub(1, std::memory_order_release); }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;

     private:
        std::atomic<std::uint32_t>& count_;
    };

    // The writer.

    /// The side that new readers take.
    unsigned side() const noexcept { return side_; }
    /// New readers take the other side. Some may be late, and take the previous one.
    void change_side() noexcept { side_ = side_ ^ 1U; }
    /// Whether each counter of a side was 0 when it was looked at.
    bool none(unsigned side) const noexcept {
        for (const Place& place : places_) {
            if (place.readers[side] != 0) return false;
        }
        return true;
    }

 private:
    static constexpr unsigned most_places = 16;
    /// Of a thread; or of some, where there are many.
    struct alignas(64) Place {
        mutable std::array<std::atomic<std::uint32_t>, 2> readers{};
    };
    static unsigned this_thread() noexcept {
        static std::atomic<unsigned> threads = 0;
        thread_local const unsigned place =
            threads.fetch_add(1, std::memory_order_relaxed) % most_places;
        return place;
    }

    std::array<Place, most_places> places_{};
    alignas(64) std::atomic<unsigned> side_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
