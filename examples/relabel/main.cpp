// Applies relabelling rules to label sets from standard input. See docs/examples.md.

#include "input.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/version.hpp"
#include "options.hpp"
#include "output.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace relabel;

enum ExitStatus { exit_fine = 0, exit_failed = 1, exit_unusable = 2 };

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

ExitStatus run(const std::vector<std::string>& arguments) {
    const Options options = parse_options(arguments);
    if (options.help) {
        std::cout << help_text() << std::flush;
        return exit_fine;
    }
    if (options.version) {
        std::cout << "relabel (k8s_sd) " K8S_SD_VERSION << std::endl;
        return exit_fine;
    }
    const k8s_sd::Relabeler relabeler(
        k8s_sd::load_relabel_configs(options.rules_file, options.rules), options.rules);
    Input input(std::cin);
    LineWriter out;
    if (options.explain) {
        explain(relabeler, input, out);
    } else {
        apply(relabeler, input, out);
    }
    return exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    // A reader that goes away shall be an error of write(), not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run({argv + 1, argv + argc});
    } catch (const support::OutputEnded&) {
        return exit_fine;
    } catch (const UsageError& e) {
        std::cerr << "relabel: " << e.what() << "\nTry 'relabel --help'.\n";
        return exit_unusable;
    } catch (const k8s_sd::ConfigError& e) {
        std::cerr << "relabel: " << e.what() << '\n';
        return exit_unusable;
    } catch (const InputError& e) {
        std::cerr << "relabel: standard input: " << e.what() << '\n';
        return exit_unusable;
    } catch (const std::exception& e) {
        std::cerr << "relabel: " << e.what() << '\n';
        return exit_failed;
    }
}
