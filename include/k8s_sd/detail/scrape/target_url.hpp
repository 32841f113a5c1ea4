#pragma once

#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <span>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Where to scrape a target, by its labels after relabelling.
struct TargetPlace {
    std::string url;
    std::string instance;  ///< what an `instance` that is empty becomes
    std::string problem;   ///< why there is no such place; empty: there is
};

/// Prometheus' rules are those of its `PopulateLabels` and `Target.URL`: `__address__` is host and
/// port; scheme, address and path are encoded as Go's net/url does it, with the parameters of the
/// configuration, of which a label `__param_<name>` replaces the first value.
///
/// vmagent's are those of its `getScrapeWork` and `GetScrapeURL`: the labels as they are, with
/// "http" and "/metrics" for what is empty; an address may be a URL, whose scheme and path win; the
/// parameters are those that have a label `__param_<name>`; Go must be able to parse the result.
/// The port that the scheme implies is added for `instance` only.
TargetPlace target_place(const ScrapeConfig&, std::span<const MutableLabels::Label>);

}  // namespace k8s_sd::inline v0::detail
