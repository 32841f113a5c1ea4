#pragma once

#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// Whether the server has lost the API of a watch (404), and how often to ask for it. An API may
/// come late, with the definition of its resource, or return. No I/O.
class ApiAbsence {
 public:
    /// \param custom  see KindSchema
    explicit ApiAbsence(std::uint64_t seed, bool custom = false)
        : pace_(min, custom ? max_custom : max, seed) {}

    /// A watch or probe got a 404.
    /// \returns whether the API is really absent: a single 404 may come from a proxy
    bool on_absent() noexcept { return ++in_a_row_ > 1; }
    /// The doubling pause before the next request, from 5 s to five minutes; for a custom kind to
    /// one minute.
    Duration pause() { return pace_.next(); }
    /// The longest pause between two queries for the versions of the API: each request of a custom
    /// kind may lead to one.
    static constexpr Duration max_query_pause(bool custom) noexcept {
        return custom ? max_custom : 2 * max;
    }
    /// A watch works.
    void reset() noexcept {
        in_a_row_ = 0;
        pace_.reset();
    }

 private:
    // A pause is up to twice as long.
    static constexpr Duration min = std::chrono::seconds(5);
    static constexpr Duration max = std::chrono::seconds(150);
    static constexpr Duration max_custom = std::chrono::seconds(30);

    Backoff pace_;
    int in_a_row_ = 0;  // since a watch worked
};

}  // namespace k8s_sd::inline v0::detail
