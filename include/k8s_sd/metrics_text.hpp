#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// Labels for all series of an exposition, e.g. {{"cluster", "blue"}} to distinguish the series of
/// two clusters. Names must be valid label names of Prometheus.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Metrics in Prometheus' text format (0.0.4), with HELP and TYPE, to be included in the host's own
/// exposition. Leaves out kinds without any count. Thread-safe.
K8S_SD_EXPORT std::string to_prometheus_text(const Metrics& metrics,
                                             const MetricLabels& labels = {});

/// The metrics of single watches, see visit_watch_metrics(), such as the age of the last event.
/// Their labels are `resource` and `namespace`, with an empty namespace for all namespaces.
/// \param watches  of one or several calls of status(); duplicates of a URL are dropped
/// \param now      on the clock of the watches, see Environment::clock
K8S_SD_EXPORT std::string to_prometheus_text(const std::vector<WatchStatus>& watches, TimePoint now,
                                             const MetricLabels& labels = {});

}  // namespace k8s_sd::inline v0
