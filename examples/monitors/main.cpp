// Makes scrape configurations of ServiceMonitors, PodMonitors, Probes and ScrapeConfigs. See
// docs/programs/monitors.md.

#include "cli/command_line.hpp"
#include "cli/line_writer.hpp"
#include "cli/option_values.hpp"
#include "monitors/recorded.hpp"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

struct Options {
    std::string recorded_file;
};

support::CommandLine command_line(Options& options) {
    return {.program = "monitors",
            .about = R"(Makes scrape configurations of monitors, as prometheus-operator does.
)",
            .sections = {{"",
                          {{.name = "--recorded",
                            .argument = "FILE",
                            .help = "read an owner and its cluster from each line of a file, and "
                                    "print what they become, one JSON object a line",
                            .set = support::text(options.recorded_file)}}}},
            .notes = "Exit status: 0 fine, 2 unusable arguments or input, 1 anything else.\n"};
}

support::ExitStatus play(const Options& options) {
    if (options.recorded_file.empty()) throw support::UsageError("--recorded FILE is missing");
    std::ifstream file(options.recorded_file, std::ios::binary);
    if (!file) throw support::Unusable(options.recorded_file + ": cannot be read");
    support::LineWriter out;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (line.empty()) continue;
        try {
            out << boost::json::serialize(monitors::play_recorded(line));
        } catch (const std::invalid_argument& e) {
            throw support::Unusable(options.recorded_file + ":" + std::to_string(number) + ": " +
                                    e.what());
        }
        out.end_line();
    }
    return support::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    return support::run_program(command_line(options), argc, argv, [&] { return play(options); });
}
