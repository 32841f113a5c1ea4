#include "support/small_example.hpp"

#include "cli/cluster.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"

#include <string>
#include <utility>

namespace support {

int run_example(const char* program, const char* about, int argc, char** argv,
                const std::function<void(const Arguments&)>& run,
                std::vector<cli::Option> options) {
    Arguments arguments;
    options.push_back({"--diffs", "N", "end after N changes; default: run until SIGINT or SIGTERM",
                       [&](const auto& value) { arguments.diffs = cli::count(value); }});
    const cli::CommandLine command{
        .program = program,
        .about = about + std::string("\n"),
        .sections = {cli::server_options(arguments.server, "a simulated cluster in this process"),
                     cli::credential_options(arguments.server),
                     {"Run", std::move(options)}},
        .positional = cli::url_of_cluster(arguments.server),
    };
    return cli::run_program(command, argc, argv, [&] {
        run(arguments);
        return cli::exit_fine;
    });
}

}  // namespace support
