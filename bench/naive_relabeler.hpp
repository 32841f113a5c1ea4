#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <memory>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace bench {

/// Relabelling written straight down: a map of strings, and each rule through the regular
/// expression, with all groups. Knows what the benchmark uses.
class NaiveRelabeler {
 public:
    explicit NaiveRelabeler(std::vector<k8s_sd::RelabelRule>);
    bool apply(k8s_sd::LabelMap&) const;

 private:
    std::vector<k8s_sd::RelabelRule> rules_;
    std::vector<std::shared_ptr<const re2::RE2>> regexes_;
};

}  // namespace bench
