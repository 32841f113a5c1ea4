#pragma once

#include "conformance/corpus.hpp"

#include <string>
#include <vector>

namespace k8s_sd::test {

/// The difference between `found` and the recorded answer in a few lines; "" if they agree.
/// Prometheus lists duplicate targets each time, vmagent lists equal ones once.
std::string difference(const Answer& expected, const std::vector<LabelMap>& found,
                       LabelDialect dialect);

}  // namespace k8s_sd::test
