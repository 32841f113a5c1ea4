#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

/// Makes relabelling rules and label sets with related names and values. The same seed makes the
/// same ones. Excludes all cases in which Prometheus 2.42 differs from 3.5, the reproduced version:
/// * the dot does not match line breaks: no value has one;
/// * a template as target label and an empty replacement delete the label named as the template
///   reads, not as it expands: such rules have replacements that are never empty;
/// * `(?<name>` is unknown: group names are written `(?P<name>`;
/// * label names are those of the legacy scheme;
/// * targets without a port get that of the scheme: all addresses have one.
/// Also excludes rules in which labelmap gives two labels the same name: there Prometheus picks one
/// at random.
class RelabelGenerator {
 public:
    explicit RelabelGenerator(std::uint64_t seed) : random_(seed) {}

    std::vector<RelabelRule> rules();
    /// With an `__address__` that contains the number.
    LabelMap labels(std::size_t number);

 protected:
    RelabelRule rule();
    RelabelRule replace_rule();
    RelabelRule labelmap_rule();
    RelabelRule names_rule(RelabelAction);
    RelabelRule compare_rule(RelabelAction);

    std::string label_name();
    std::vector<std::string> sources();
    std::string value();
    std::string replacement();
    std::string simple_regex();
    std::string regex(int depth);
    std::string regex_piece(int depth);
    std::string quantifier();

    std::size_t below(std::size_t n) { return random_() % n; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <class... T>
    std::string one_of(const T&... choices) {
        const std::string_view all[] = {choices...};
        return std::string(all[below(sizeof...(choices))]);
    }

 private:
    std::mt19937_64 random_;
};

/// An entry of `relabel_configs`, without default values.
boost::json::object to_json(const RelabelRule&);

}  // namespace k8s_sd::test
