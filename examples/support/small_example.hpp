#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"

#include <functional>
#include <vector>

namespace support {

/// The arguments of a small example: [OPTION]... [URL].
struct Arguments {
    k8s_sd::DiscoveryConfig server;  ///< without a server: a simulated cluster
    unsigned diffs = 0;              ///< end after this number; 0: run until a signal
};

/// The whole of main() of a small example. See run_program().
/// \param about    a sentence for --help
/// \param options  additional options of the example
int run_example(const char* program, const char* about, int argc, char** argv,
                const std::function<void(const Arguments&)>& run,
                std::vector<cli::Option> options = {});

}  // namespace support
