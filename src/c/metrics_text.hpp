#pragma once

#include <string>
#include <vector>

namespace k8s_sd_c {

/// One text in Prometheus' format of several: each family has one HELP, one TYPE, and the samples
/// of all texts.
std::string join_metrics(const std::vector<std::string>& texts);

}  // namespace k8s_sd_c
