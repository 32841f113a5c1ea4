#pragma once

#include "lists/collectors.hpp"
#include "lists/list_body.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The targets of a job with the collectors that have them, as one body. As long as somebody reads
/// it, it is for all who ask for the same. Thread-safe.
class AllTargets {
 public:
    /// Each is as large as all lists of its job.
    static constexpr std::size_t most_bodies = 16;

    /// \param lists  of the members of the present allocation, in their order
    /// \returns null if so many other ones are being read
    ListBodyPtr body(const std::string& job, const AllocationView&,
                     const std::vector<ListBodyPtr>& lists);

 private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const ListBody>> bodies_;
};

/// "/jobs/{job}/targets", as the Target Allocator writes links.
std::string link_of(std::string_view job);

}  // namespace bridge
