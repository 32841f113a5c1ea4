#pragma once

#include "k8s_sd/config.hpp"
#include "support/command_line.hpp"

#include <functional>
#include <vector>

namespace support {

/// What a small example is told: [OPTION]... [URL].
struct Arguments {
    k8s_sd::DiscoveryConfig server;  ///< names a server; else: a simulated cluster
    unsigned diffs = 0;              ///< end after so many; 0: run until a signal comes
};

/// The whole of main() of a small example. See run_program().
/// \param about    what it does, a sentence for --help
/// \param options  its own, besides those of all small examples
int run_example(const char* program, const char* about, int argc, char** argv,
                const std::function<void(const Arguments&)>& run, std::vector<Option> options = {});

}  // namespace support
