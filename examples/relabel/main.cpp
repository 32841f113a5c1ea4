// Applies relabelling rules to label sets from standard input. See docs/examples.md.

#include "input.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "options.hpp"
#include "output.hpp"
#include "support/process_variables.hpp"

#include <cstddef>
#include <iostream>
#include <vector>

namespace {

using namespace relabel;

void fill(k8s_sd::MutableLabels& labels, const k8s_sd::LabelMap& map) {
    labels.clear();
    for (const auto& [name, value] : map) labels.set(name, value);
}

void explain(const k8s_sd::Relabeler& relabeler, Input& input, LineWriter& out) {
    k8s_sd::MutableLabels labels;
    std::size_t number = 0;
    input.read([&](const k8s_sd::LabelMap& map) {
        fill(labels, map);
        const std::vector<k8s_sd::RelabelStep> steps = relabeler.explain(labels);
        write_steps(out, ++number, relabeler.rules(), steps);
        out << "  result: ";
        write_result(out, labels, steps.empty() || !steps.back().dropped);
        out.end_line();
    });
}

void apply(const k8s_sd::Relabeler& relabeler, Input& input, LineWriter& out) {
    k8s_sd::MutableLabels labels;
    const char* separator = "[";
    input.read([&](const k8s_sd::LabelMap& map) {
        fill(labels, map);
        if (input.is_array()) out << separator;
        separator = ",";
        write_result(out, labels, relabeler.apply(labels));
        if (!input.is_array()) out.end_line();
    });
    if (!input.is_array()) return;
    out << (*separator == '[' ? "[]" : "]");
    out.end_line();
}

support::ExitStatus run(const Options& options) {
    const k8s_sd::Relabeler relabeler(k8s_sd::load_relabel_configs(options.rules_file,
                                                                   options.rules,
                                                                   support::process_variables()),
                                      options.rules);
    Input input(std::cin);
    LineWriter out;
    if (options.explain) {
        explain(relabeler, input, out);
    } else {
        apply(relabeler, input, out);
    }
    return support::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    return support::run_program(command_line(options), argc, argv, [&] { return run(options); });
}
