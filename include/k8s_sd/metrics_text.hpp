#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// Labels that all series of an exposition have, e.g. {{"cluster", "blue"}}: they tell the series
/// of two clusters apart. Names must be label names of Prometheus.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Metrics in Prometheus' text format (0.0.4), with HELP and TYPE, to be a part of what a host
/// exposes. Leaves out kinds that nothing has been counted for. Thread-safe.
K8S_SD_EXPORT std::string to_prometheus_text(const Metrics& metrics,
                                             const MetricLabels& labels = {});

/// The same of single watches, see visit_watch_metrics(): ages of what was last heard of each,
/// among others. Their labels are `resource` and `namespace`, which is empty for all namespaces.
/// \param watches  of one or several status(); one URL counts once
/// \param now      of the clock that the watches use, see Environment::clock
K8S_SD_EXPORT std::string to_prometheus_text(const std::vector<WatchStatus>& watches, TimePoint now,
                                             const MetricLabels& labels = {});

}  // namespace k8s_sd::inline v0
