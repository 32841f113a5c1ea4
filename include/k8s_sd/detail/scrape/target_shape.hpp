#pragma once

#include "k8s_sd/detail/labels/label_template.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The common part of a job's targets: the names of their labels, the values set by the job, and
/// the durations expressed by such values.
class TargetShape final : public LabelTemplate, public boost::intrusive_ref_counter<TargetShape> {
 public:
    TargetShape(std::size_t hash, std::span<const TemplateEntry> entries,
                std::shared_ptr<const PreparedJob> job, std::chrono::milliseconds interval,
                std::chrono::milliseconds timeout)
        : LabelTemplate(hash, entries),
          job_(std::move(job)),
          interval_(interval),
          timeout_(timeout) {}

    const PreparedJob& job() const noexcept { return *job_; }
    std::chrono::milliseconds interval() const noexcept { return interval_; }
    std::chrono::milliseconds timeout() const noexcept { return timeout_; }

 private:
    const std::shared_ptr<const PreparedJob> job_;
    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds timeout_;
};

using TargetShapePtr = boost::intrusive_ptr<const TargetShape>;

}  // namespace k8s_sd::inline v0::detail
