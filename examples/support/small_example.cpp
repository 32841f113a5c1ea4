#include "support/small_example.hpp"

#include "cli/cluster.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"

#include <string>
#include <utility>

namespace support {

int run_example(const char* program, const char* about, int argc, char** argv,
                const std::function<void(const Arguments&)>& run, std::vector<Option> options) {
    Arguments arguments;
    options.push_back({"--diffs", "N", "end after N changes; default: run until SIGINT or SIGTERM",
                       [&](const auto& value) { arguments.diffs = count(value); }});
    const CommandLine command{
        .program = program,
        .about = about + std::string("\n"),
        .sections = {server_options(arguments.server, "a simulated cluster in this process"),
                     credential_options(arguments.server),
                     {"Run", std::move(options)}},
        .positional = url_of_cluster(arguments.server),
    };
    return run_program(command, argc, argv, [&] {
        run(arguments);
        return exit_fine;
    });
}

}  // namespace support
