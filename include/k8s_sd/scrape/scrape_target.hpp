#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
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
class TargetShape;
}  // namespace detail

/// The number of a target in a TargetPool, from 1. Stays as long as the target stays the same,
/// whatever its object, and is never reused within the lifetime of the pool.
using TargetId = std::uint64_t;

/// One target to scrape, after relabelling. Immutable; thread-safe.
class K8S_SD_EXPORT ScrapeTarget final : public boost::intrusive_ref_counter<ScrapeTarget> {
 public:
    /// A name and its value.
    using Label = ScrapeLabels::value_type;

    /// All labels except `__meta_*`, sorted by name: those of the series, and those with settings
    /// of the scrape (`__address__`, `__scheme__`, `__tmp_x` …).
    ScrapeLabels labels() const noexcept;
    /// The value of a label in labels(); empty if there is none.
    std::string_view get(std::string_view name) const noexcept { return labels().get(name); }
    /// The labels to attach to series: those without the prefix "__".
    LabelMap public_labels() const;
    /// The labels before relabelling. Computed at each call.
    LabelMap discovered_labels() const;
    /// The source of its object: TargetGroup::source().
    std::string_view source() const noexcept { return group_->source(); }
    /// The target group it was made from.
    const TargetGroup& group() const noexcept { return *group_; }
    /// Its index in this group.
    std::size_t index() const noexcept { return index_; }

    /// The URL to scrape: scheme, address, path and query, percent-encoded as in Go.
    /// LabelDialect::victoriametrics: as in the labels, so a client may have to encode characters
    /// not allowed in a request; Go's net/url can parse it. Computed at each call; a host should
    /// keep the result for its scrapes.
    std::string url() const;
    /// Time between two scrapes.
    std::chrono::milliseconds scrape_interval() const noexcept;
    /// Time for one scrape.
    std::chrono::milliseconds scrape_timeout() const noexcept;
    /// Whether to convert classic histograms to native ones: the setting of the job. From
    /// PrometheusVersion::v3_13 on, the label `__convert_classic_histograms_to_nhcb__`, if there is
    /// one, as rules may set it.
    bool convert_classic_histograms_to_nhcb() const noexcept;
    /// Whether to scrape classic histograms beside native ones: the setting of the job, or the
    /// label `__always_scrape_classic_histograms__`, as above.
    bool always_scrape_classic_histograms() const noexcept;
    /// Whether to scrape native histograms: the setting of the job, or the label
    /// `__scrape_native_histograms__`, as above.
    bool scrape_native_histograms() const noexcept;
    /// The path of the Unix domain socket for its scrapes: from PrometheusVersion::v3_15 on, the
    /// label `__unix_socket__`. Empty: connect to the address of url().
    std::string_view unix_socket() const noexcept;
    /// Whether two targets of one job are the same: with equal labels() and url().
    bool same_as(const ScrapeTarget& other) const noexcept {
        // With equal labels, only different parameters in two configurations of the job lead to
        // different URLs. The hash includes the URL.
        return hash_ == other.hash_ && labels() == other.labels();
    }
    /// Hash of labels and URL; may differ between versions of the library.
    std::uint64_t hash() const noexcept { return hash_; }
    /// Time to wait for the first scrape: spreads scrapes over the interval, with the same offset
    /// for a target after restarts (Prometheus' rule).
    /// \param seed  must differ between programs with the same targets: a hash of a property of the
    ///              program, since 1 instead of 0 moves a scrape by a nanosecond
    std::chrono::nanoseconds first_scrape_after(std::chrono::system_clock::time_point now,
                                                std::uint64_t seed = 0) const noexcept;
    /// Whether the discovered labels of two equal targets are made of the same parts, and their
    /// jobs have the same settings about histograms.
    bool same_discovered(const ScrapeTarget& other) const noexcept;

    ~ScrapeTarget();
    ScrapeTarget(const ScrapeTarget&) = delete;
    ScrapeTarget& operator=(const ScrapeTarget&) = delete;
    /// The allocation is larger than the class, so sized deallocation must not be used.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
    friend struct detail::Access;

    /// A place in the ring of equal targets of one pool; see detail::EqualTargets.
    struct Links {
        TargetId id = 0;
        const ScrapeTarget* next = nullptr;
        const ScrapeTarget* previous = nullptr;
    };

    ScrapeTarget(boost::intrusive_ptr<const detail::TargetShape>, std::uint64_t hash,
                 TargetGroupPtr, std::size_t index) noexcept;
    bool flag(std::string_view label, bool of_job) const noexcept;
    // The values follow the object in the same allocation.
    const char* values() const noexcept { return reinterpret_cast<const char*>(this + 1); }

    const std::uint32_t index_;
    const std::uint64_t hash_;
    const boost::intrusive_ptr<const detail::TargetShape> shape_;
    const TargetGroupPtr group_;
    // Only the pool that owns the target uses them.
    mutable Links links_{0, this, this};
};

/// Shared ownership of a scrape target.
using ScrapeTargetPtr = boost::intrusive_ptr<const ScrapeTarget>;

}  // namespace k8s_sd::inline v0
