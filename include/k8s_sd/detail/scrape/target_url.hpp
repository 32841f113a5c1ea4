#pragma once

#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The error of Go's url.Parse; empty: a valid URL. (Without its strict rule about colons in hosts,
/// like vmagent.)
std::string go_url_problem(std::string_view url);

/// The scrape address of a target, derived from its labels after relabelling.
struct TargetPlace {
    std::string url;
    std::string instance;  ///< replaces an empty `instance`
    std::string problem;   ///< why there is no URL; empty: none
};

/// Prometheus (`PopulateLabels`, `Target.URL`): `__address__` is host and port; scheme, address and
/// path are encoded like in Go's net/url. The query contains the configured parameters, with their
/// first values replaced by labels `__param_<name>`.
///
/// vmagent (`getScrapeWork`, `GetScrapeURL`): the labels are used unencoded, with the defaults
/// "http" and "/metrics"; an address may be a URL, and its scheme and path take precedence; the
/// parameters are those with a label `__param_<name>`; Go must accept the result. The default port
/// of the scheme is added for `instance` only.
TargetPlace target_place(const ScrapeConfig&, std::span<const MutableLabels::Label>);

}  // namespace k8s_sd::inline v0::detail
