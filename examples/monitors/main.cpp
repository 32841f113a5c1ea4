// Makes scrape configurations of ServiceMonitors, PodMonitors, Probes and ScrapeConfigs. See
// docs/programs/monitors.md.

#include "cli/command_line.hpp"
#include "cli/line_writer.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "follow.hpp"
#include "monitors/recorded.hpp"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

struct Options {
    std::string recorded_file;
    std::string printed;  ///< "NAMESPACE/NAME"; empty: follow the cluster
    monitors::ClusterOptions cluster;
};

cli::CommandLine command_line(Options& options) {
    return {.program = "monitors",
            .about =
                R"(Makes scrape jobs of ServiceMonitors, PodMonitors, Probes and ScrapeConfigs, as
prometheus-operator does, and prints their targets and changes.
)",
            .sections = {{"Monitors of a cluster",
                          {{"--owner", "[KIND/]NAMESPACE/NAME",
                            "which monitors, and how: a Prometheus object of the cluster (or KIND "
                            "PrometheusAgent, VMAgent, VMSingle); without an owner all of them",
                            cli::text(options.cluster.owner)},
                           {"--owner-file", "FILE", "the same from a file in YAML",
                            cli::text(options.cluster.owner_file)},
                           {"--print", "NAMESPACE/NAME",
                            "print the configuration that the monitors of this name become, with "
                            "<secret> in place of values, and end",
                            cli::text(options.printed)},
                           {"--once", "", "end when the first targets are known",
                            cli::flag(options.cluster.once)}}},
                         cli::server_options(options.cluster.server,
                                             "a simulated cluster, with changes"),
                         cli::credential_options(options.cluster.server),
                         {"Without a cluster",
                          {{.name = "--recorded",
                            .argument = "FILE",
                            .help = "read an owner and its cluster from each line of a file, and "
                                    "print what they become, one JSON object a line",
                            .set = cli::text(options.recorded_file)}}}},
            .notes = "Exit status: 0 fine, 2 unusable arguments or input, 1 anything else.\n"};
}

cli::ExitStatus run(const Options& options) {
    if (options.recorded_file.empty()) {
        if (options.printed.empty()) {
            monitors::follow(options.cluster);
        } else {
            monitors::print(options.cluster, options.printed);
        }
        return cli::exit_fine;
    }
    std::ifstream file(options.recorded_file, std::ios::binary);
    if (!file) throw cli::Unusable(options.recorded_file + ": cannot be read");
    cli::LineWriter out;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (line.empty()) continue;
        try {
            out << boost::json::serialize(monitors::play_recorded(line));
        } catch (const std::invalid_argument& e) {
            throw cli::Unusable(options.recorded_file + ":" + std::to_string(number) + ": " +
                                e.what());
        }
        out.end_line();
    }
    return cli::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    return cli::run_program(command_line(options), argc, argv, [&] { return run(options); });
}
