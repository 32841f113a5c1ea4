#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
struct PreparedJob;
}

/// One place to scrape, after relabelling. Immutable; thread-safe.
class K8S_SD_EXPORT ScrapeTarget final : public boost::intrusive_ref_counter<ScrapeTarget> {
 public:
    /// A name and its value.
    using Label = MutableLabels::Label;

    /// All labels but `__meta_*`, sorted by name: those of the series, and those that only steer
    /// the scrape (`__address__`, `__scheme__`, `__tmp_x` …).
    std::span<const Label> labels() const noexcept { return labels_; }
    /// Of labels(); empty if there is none.
    std::string_view get(std::string_view name) const noexcept;
    /// The labels to attach to series: those that do not begin with "__".
    LabelMap public_labels() const;
    /// What was known before relabelling. Made when asked for.
    LabelMap discovered_labels() const;
    /// Of the object it comes from: TargetGroup::source().
    std::string_view source() const noexcept { return group_->source(); }

    /// Where to fetch: scheme, address, path and query, percent-encoded as Go does it.
    /// LabelDialect::victoriametrics: as the labels say it, so that a client may have to encode what
    /// must not stand in a request; Go's net/url can parse it.
    const std::string& url() const noexcept { return url_; }
    /// Time between two scrapes.
    std::chrono::milliseconds scrape_interval() const noexcept { return scrape_interval_; }
    /// Time for one scrape.
    std::chrono::milliseconds scrape_timeout() const noexcept { return scrape_timeout_; }
    /// Two targets of one job are the same if their labels() and url() are.
    bool same_as(const ScrapeTarget& other) const noexcept {
        return hash_ == other.hash_ && labels_ == other.labels_ && url_ == other.url_;
    }
    /// Of labels and URL; not the same in every version of the library.
    std::uint64_t hash() const noexcept { return hash_; }
    /// How long to wait for the first scrape, so that scrapes are spread over the interval and
    /// a target keeps its place in it over restarts (Prometheus' rule).
    /// \param seed  differs between programs that scrape the same targets
    std::chrono::nanoseconds first_scrape_after(std::chrono::system_clock::time_point now,
                                                std::uint64_t seed = 0) const noexcept;
    /// Whether the discovered labels of two targets that are the same are made of the same parts.
    bool same_discovered(const ScrapeTarget& other) const noexcept;

 private:
    friend class TargetBuilder;
    ScrapeTarget() = default;

    // The labels' text is one allocation.
    std::unique_ptr<char[]> text_;
    std::vector<Label> labels_;
    std::string url_;
    std::uint64_t hash_ = 0;
    std::chrono::milliseconds scrape_interval_{};
    std::chrono::milliseconds scrape_timeout_{};
    std::shared_ptr<const detail::PreparedJob> job_;
    TargetGroupPtr group_;
    std::size_t index_ = 0;
};

/// Shared ownership of a scrape target.
using ScrapeTargetPtr = boost::intrusive_ptr<const ScrapeTarget>;

}  // namespace k8s_sd::inline v0
