#pragma once

#include "conformance/corpus.hpp"

#include <string>
#include <vector>

namespace k8s_sd::test {

/// How `found` differs from the recorded answer, in a few lines; "" if it does not. Prometheus
/// lists a target as often as it was found, vmagent lists equal ones once.
std::string difference(const Answer& expected, const std::vector<LabelMap>& found,
                       LabelDialect dialect);

}  // namespace k8s_sd::test
