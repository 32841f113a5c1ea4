// A host that relabels its discovered targets, so it needs k8s_sd::scrape.
#include "simulation.hpp"

#include <iostream>
#include <k8s_sd/relabel/relabeler.hpp>
#include <vector>

int main() {
    const std::string address = discovered_address();
    const k8s_sd::Relabeler relabeler(std::vector<k8s_sd::RelabelRule>{
        {.source_labels = {"__address__"}, .regex = "[0-9.]+:(.*)", .target_label = "port"}});
    k8s_sd::MutableLabels labels;
    labels.set("__address__", address);
    const bool kept = relabeler.apply(labels);
    std::cout << "the port is " << labels.get("port") << '\n';
    return kept && labels.get("port") == "8080" ? 0 : 1;
}
