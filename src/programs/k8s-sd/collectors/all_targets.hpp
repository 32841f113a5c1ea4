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

namespace k8s_sd_program {

/// The targets of a job with their collectors, as one body. While it is being read, equal requests
/// share it. Thread-safe.
class AllTargets {
 public:
    /// Each body is as large as all lists of its job.
    static constexpr std::size_t max_bodies = 16;

    /// \param lists  one for each member of the present allocation, in order
    /// \returns null if too many other bodies are being read
    ListBodyPtr body(const std::string& job, const AllocationView&,
                     const std::vector<ListBodyPtr>& lists);

 private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const ListBody>> bodies_;
};

/// "/jobs/{job}/targets", like the links of the Target Allocator.
std::string link_of(std::string_view job);

}  // namespace k8s_sd_program
