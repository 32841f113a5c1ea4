#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct PreparedJob;

/// What many targets of a job have in common: the names of their labels, the values that come from
/// the job, and the times that such values stand for.
class TargetShape final : public boost::intrusive_ref_counter<TargetShape> {
 public:
    /// A label. Its value is the job's, or each target has its own.
    struct Entry {
        std::string_view name;
        std::string_view value;  ///< its data is null: each target has its own
        bool own() const noexcept { return value.data() == nullptr; }
    };

    /// \param entries  sorted by name; copied
    TargetShape(std::shared_ptr<const PreparedJob> job, std::size_t hash,
                std::span<const Entry> entries, std::chrono::milliseconds interval,
                std::chrono::milliseconds timeout);

    const PreparedJob& job() const noexcept { return *job_; }
    std::span<const Entry> entries() const noexcept { return entries_; }
    std::chrono::milliseconds interval() const noexcept { return interval_; }
    std::chrono::milliseconds timeout() const noexcept { return timeout_; }
    /// Of the entries.
    std::size_t hash() const noexcept { return hash_; }

 private:
    const std::shared_ptr<const PreparedJob> job_;
    const std::size_t hash_;
    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds timeout_;
    std::unique_ptr<char[]> text_;
    std::vector<Entry> entries_;
};

using TargetShapePtr = boost::intrusive_ptr<const TargetShape>;

}  // namespace k8s_sd::inline v0::detail
