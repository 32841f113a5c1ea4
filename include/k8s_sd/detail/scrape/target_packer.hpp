#pragma once

#include "k8s_sd/detail/base/small_set.hpp"
#include "k8s_sd/detail/labels/label_template.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Packs the targets of a job by storing their common parts once. Not thread-safe.
class TargetPacker {
 public:
    explicit TargetPacker(std::shared_ptr<const PreparedJob> job) : job_(std::move(job)) {}

    /// \param labels  sorted by name
    /// \param url     equal to the later ScrapeTarget::url(); not stored
    ScrapeTargetPtr pack(std::span<const MutableLabels::Label> labels, std::string_view url,
                         std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
                         const TargetGroupPtr& group, std::size_t index);
    /// The same target in another version of its group.
    static ScrapeTargetPtr repack(const ScrapeTarget&, const TargetGroupPtr&, std::size_t index);
    /// The number of shapes, including some without targets.
    std::size_t shape_count() const noexcept { return shapes_.size(); }

 private:
    using TemplateEntry = TargetShape::TemplateEntry;
    /// Lookup key of a shape.
    struct Key {
        std::size_t hash;
        std::span<const TemplateEntry> entries;
        std::chrono::milliseconds interval;
        std::chrono::milliseconds timeout;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Key& key) const noexcept { return key.hash; }
        std::size_t operator()(const TargetShapePtr& shape) const noexcept { return shape->hash(); }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const TargetShapePtr& a, const TargetShapePtr& b) const noexcept {
            return a == b;
        }
        bool operator()(const Key& key, const TargetShapePtr& shape) const noexcept;
        bool operator()(const TargetShapePtr& shape, const Key& key) const noexcept {
            return (*this)(key, shape);
        }
    };

    class Parts;

    TargetShapePtr shape_of(const Key&);
    void forget_unused();

    const std::shared_ptr<const PreparedJob> job_;
    SmallSet<TargetShapePtr, Hash, Equal> shapes_;
    std::size_t shape_entries_ = 0;  // total of all shapes
    std::size_t enough_entries_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
