#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <memory>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace bench {

/// Straightforward relabelling: a map of strings, and the regular expression with all groups for
/// each rule. Supports only the rules of the benchmark.
class NaiveRelabeler {
 public:
    explicit NaiveRelabeler(std::vector<k8s_sd::RelabelRule>);
    bool apply(k8s_sd::LabelMap&) const;

 private:
    std::vector<k8s_sd::RelabelRule> rules_;
    std::vector<std::shared_ptr<const re2::RE2>> regexes_;
};

}  // namespace bench
