#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// The lines of tests/data/operator/<group>.jsonl.gz.
std::vector<std::string> monitor_cases(const std::string& group);

/// The first differences between the recorded answer of a case and a generated one, one a line;
/// empty if they are equal.
std::string monitor_differences(const boost::json::object& recorded,
                                const boost::json::object& generated);

}  // namespace k8s_sd::test
