#pragma once

#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <span>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Scheme, address and path of the labels, with the parameters of the configuration; a label
/// `__param_<name>` replaces the first value of a parameter, or adds it. Encoded as Go's net/url
/// does it, parameters sorted by name (Prometheus' `Target.URL`).
std::string target_url(const ScrapeConfig&, std::span<const MutableLabels::Label>);

}  // namespace k8s_sd::inline v0::detail
