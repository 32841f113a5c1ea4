#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/scrape/go_bool.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"

#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

ScrapeTarget::ScrapeTarget(detail::TargetShapePtr shape, std::uint64_t hash, TargetGroupPtr group,
                           std::size_t index) noexcept
    : index_(static_cast<std::uint32_t>(index)),
      hash_(hash),
      shape_(std::move(shape)),
      group_(std::move(group)) {}

ScrapeTarget::~ScrapeTarget() = default;

ScrapeLabels ScrapeTarget::labels() const noexcept {
    return detail::Access::make<ScrapeLabels>(*shape_, values());
}

std::chrono::milliseconds ScrapeTarget::scrape_interval() const noexcept {
    return shape_->interval();
}
std::chrono::milliseconds ScrapeTarget::scrape_timeout() const noexcept {
    return shape_->timeout();
}

bool ScrapeTarget::flag(std::string_view label, bool of_job) const noexcept {
    const bool has_labels =
        detail::version_rules_of(detail::dialect_of(shape_->job().config)).has_histogram_labels;
    return has_labels ? detail::parse_go_bool(labels().get(label)).value_or(of_job) : of_job;
}

bool ScrapeTarget::convert_classic_histograms_to_nhcb() const noexcept {
    return flag(detail::convert_histograms_label,
                shape_->job().config.convert_classic_histograms_to_nhcb);
}
bool ScrapeTarget::always_scrape_classic_histograms() const noexcept {
    return flag(detail::classic_histograms_label,
                shape_->job().config.always_scrape_classic_histograms);
}
bool ScrapeTarget::scrape_native_histograms() const noexcept {
    return flag(detail::native_histograms_label, shape_->job().config.scrape_native_histograms);
}

std::string_view ScrapeTarget::unix_socket() const noexcept {
    const bool has_label =
        detail::version_rules_of(detail::dialect_of(shape_->job().config)).has_unix_sockets;
    return has_label ? get("__unix_socket__") : std::string_view();
}

LabelMap ScrapeTarget::public_labels() const {
    LabelMap map;
    for (const auto [name, value] : labels()) {
        if (!name.starts_with("__")) map.emplace_hint(map.end(), name, value);
    }
    return map;
}

LabelMap ScrapeTarget::discovered_labels() const {
    return detail::discovered_labels(shape_->job(), *group_, index_);
}

std::string ScrapeTarget::url() const {
    const ScrapeLabels all = labels();
    const std::vector<Label> list(all.begin(), all.end());
    return detail::target_place(shape_->job().config, list).url;
}

bool ScrapeTarget::same_discovered(const ScrapeTarget& other) const noexcept {
    // Versions without labels for these settings have them in the job only.
    const auto histograms = [](const ScrapeConfig& config) {
        return std::tuple(config.convert_classic_histograms_to_nhcb,
                          config.always_scrape_classic_histograms, config.scrape_native_histograms);
    };
    return shape_->job().defaults == other.shape_->job().defaults &&
           histograms(shape_->job().config) == histograms(other.shape_->job().config) &&
           group_->labels() == other.group_->labels() &&
           (*group_)[index_] == (*other.group_)[other.index_];
}

std::chrono::nanoseconds ScrapeTarget::first_scrape_after(std::chrono::system_clock::time_point now,
                                                          std::uint64_t seed) const noexcept {
    using std::chrono::nanoseconds;
    const nanoseconds interval = scrape_interval();
    const auto place = nanoseconds((hash_ ^ seed) % static_cast<std::uint64_t>(interval.count()));
    nanoseconds since_start =
        std::chrono::duration_cast<nanoseconds>(now.time_since_epoch()) % interval;
    if (since_start < nanoseconds::zero()) since_start += interval;  // before 1970
    // The sum of two intervals may overflow.
    const nanoseconds wait = place - since_start;
    return wait < nanoseconds::zero() ? wait + interval : wait;
}

}  // namespace k8s_sd::inline v0
