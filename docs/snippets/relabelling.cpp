// Snippets of docs/guide/relabelling.md.

//[relabeler
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

//]
#include <vector>

namespace snippets::relabelling {

void use(const k8s_sd::LabelMap& labels);

[[maybe_unused]] static void relabel(const std::vector<k8s_sd::LabelMap>& targets) {
    //[relabeler
    const k8s_sd::Relabeler relabeler(k8s_sd::load_relabel_configs("rules.yaml"));
    k8s_sd::MutableLabels labels;  // reused for each target
    for (const auto& target : targets) {
        labels.clear();
        for (const auto& [name, value] : target) labels.set(name, value);
        if (relabeler.apply(labels)) use(labels.to_map());
    }
    //]
}

}  // namespace snippets::relabelling
