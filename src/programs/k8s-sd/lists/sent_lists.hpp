#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// The last list sent on each connection. Thread-safe.
class SentLists {
 public:
    /// \param max_lists  the number of connections; the oldest ones are dropped
    explicit SentLists(std::size_t max_lists) : max_lists_(max_lists) {}

    /// The tag; empty if the last response was for another target, or was dropped.
    std::string last(std::uint64_t connection, std::string_view target) const;
    /// \param target  of the request; it may be long
    void sent(std::uint64_t connection, std::string_view target, std::string tag);

 private:
    struct Sent {
        std::size_t target = 0;  ///< a hash
        std::string tag;
    };

    const std::size_t max_lists_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Sent> sent_;
};

}  // namespace k8s_sd_program
