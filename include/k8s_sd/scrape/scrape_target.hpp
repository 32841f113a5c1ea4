#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/scrape/scrape_labels.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace detail {
class EqualTargets;
class TargetPacker;
class TargetShape;
}  // namespace detail

/// The number of a target in a TargetPool, from 1. It stays as long as the target stays the same,
/// whatever object it comes from, and is never used again within the life of the pool.
using TargetId = std::uint64_t;

/// One place to scrape, after relabelling. Immutable; thread-safe.
class K8S_SD_EXPORT ScrapeTarget final : public boost::intrusive_ref_counter<ScrapeTarget> {
 public:
    /// A name and its value.
    using Label = ScrapeLabels::value_type;

    /// All labels but `__meta_*`, sorted by name: those of the series, and those that only steer
    /// the scrape (`__address__`, `__scheme__`, `__tmp_x` …).
    ScrapeLabels labels() const noexcept;
    /// Of labels(); empty if there is none.
    std::string_view get(std::string_view name) const noexcept { return labels().get(name); }
    /// The labels to attach to series: those that do not begin with "__".
    LabelMap public_labels() const;
    /// What was known before relabelling. Made when asked for.
    LabelMap discovered_labels() const;
    /// Of the object it comes from: TargetGroup::source().
    std::string_view source() const noexcept { return group_->source(); }
    /// What it was made of.
    const TargetGroup& group() const noexcept { return *group_; }
    /// Its place in the group of that object.
    std::size_t index() const noexcept { return index_; }

    /// Where to fetch: scheme, address, path and query, percent-encoded as Go does it.
    /// LabelDialect::victoriametrics: as the labels say it, so that a client may have to encode
    /// what must not stand in a request; Go's net/url can parse it. Made when asked for; a host
    /// that needs it for each scrape keeps it.
    std::string url() const;
    /// Time between two scrapes.
    std::chrono::milliseconds scrape_interval() const noexcept;
    /// Time for one scrape.
    std::chrono::milliseconds scrape_timeout() const noexcept;
    /// Two targets of one job are the same if their labels() and url() are.
    bool same_as(const ScrapeTarget& other) const noexcept {
        // Of equal labels, only the parameters of two configurations of the job can make different
        // URLs. The hash has the URL in it.
        return hash_ == other.hash_ && labels() == other.labels();
    }
    /// Of labels and URL; not the same in every version of the library.
    std::uint64_t hash() const noexcept { return hash_; }
    /// How long to wait for the first scrape, so that scrapes are spread over the interval and
    /// a target keeps its place in it over restarts (Prometheus' rule).
    /// \param seed  differs between programs that scrape the same targets: a hash of something that
    ///              is their own, as 1 instead of 0 moves a scrape by a nanosecond
    std::chrono::nanoseconds first_scrape_after(std::chrono::system_clock::time_point now,
                                                std::uint64_t seed = 0) const noexcept;
    /// Whether the discovered labels of two targets that are the same are made of the same parts.
    bool same_discovered(const ScrapeTarget& other) const noexcept;

    ~ScrapeTarget();
    ScrapeTarget(const ScrapeTarget&) = delete;
    ScrapeTarget& operator=(const ScrapeTarget&) = delete;
    /// The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
    friend class detail::EqualTargets;
    friend class detail::TargetPacker;

    ScrapeTarget(boost::intrusive_ptr<const detail::TargetShape>, std::uint64_t hash,
                 TargetGroupPtr, std::size_t index) noexcept;
    // The values stand behind the object, in the same allocation.
    const char* values() const noexcept { return reinterpret_cast<const char*>(this + 1); }

    const std::uint32_t index_;
    const std::uint64_t hash_;
    const boost::intrusive_ptr<const detail::TargetShape> shape_;
    const TargetGroupPtr group_;
    // Of the one pool that has it, which alone looks at them. See detail::EqualTargets.
    mutable TargetId id_ = 0;
    mutable const ScrapeTarget* next_equal_ = this;
    mutable const ScrapeTarget* previous_equal_ = this;
};

/// Shared ownership of a scrape target.
using ScrapeTargetPtr = boost::intrusive_ptr<const ScrapeTarget>;

}  // namespace k8s_sd::inline v0
