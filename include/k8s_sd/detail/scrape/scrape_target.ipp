#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"

#include <algorithm>

namespace k8s_sd::inline v0 {

std::string_view ScrapeTarget::get(std::string_view name) const noexcept {
    const auto it = std::lower_bound(labels_.begin(), labels_.end(), name,
                                     [](const Label& l, std::string_view n) { return l.name < n; });
    return it == labels_.end() || it->name != name ? std::string_view() : it->value;
}

LabelMap ScrapeTarget::public_labels() const {
    LabelMap map;
    for (const Label& label : labels_) {
        if (!label.name.starts_with("__")) map.emplace(label.name, label.value);
    }
    return map;
}

LabelMap ScrapeTarget::discovered_labels() const {
    return detail::discovered_labels(*job_, *group_, index_);
}

bool ScrapeTarget::same_discovered(const ScrapeTarget& other) const noexcept {
    return job_->defaults == other.job_->defaults && group_->labels() == other.group_->labels() &&
           (*group_)[index_] == (*other.group_)[other.index_];
}

std::chrono::nanoseconds ScrapeTarget::first_scrape_after(std::chrono::system_clock::time_point now,
                                                          std::uint64_t seed) const noexcept {
    using std::chrono::nanoseconds;
    const nanoseconds interval = scrape_interval_;
    const auto place = nanoseconds((hash_ ^ seed) % static_cast<std::uint64_t>(interval.count()));
    const nanoseconds since_start =
        std::chrono::duration_cast<nanoseconds>(now.time_since_epoch()) % interval;
    return (place - since_start + interval) % interval;
}

}  // namespace k8s_sd::inline v0
