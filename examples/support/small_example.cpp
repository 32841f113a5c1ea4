#include "support/small_example.hpp"

#include "support/cluster.hpp"
#include "support/command_line.hpp"
#include "support/option_values.hpp"

namespace support {

int run_example(const char* program, const char* about, int argc, char** argv,
                void (*run)(const Arguments&)) {
    Arguments arguments;
    const CommandLine command{
        .program = program,
        .about = about + std::string("\n"),
        .sections = {{"",
                      {{"--diffs", "N", "end after N changes; default: run until SIGINT or SIGTERM",
                        [&](const auto& value) { arguments.diffs = count(value); }}}}},
        .positional = url_of_cluster(arguments.url),
    };
    return run_program(command, argc, argv, [&] {
        run(arguments);
        return exit_fine;
    });
}

}  // namespace support
