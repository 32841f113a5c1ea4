#pragma once

#include <string>

namespace support {

/// What a small example is told: [--diffs N] [URL].
struct Arguments {
    std::string url;     ///< empty: a simulated cluster
    unsigned diffs = 0;  ///< end after so many; 0: run until a signal comes
};

/// The whole of main() of a small example. See run_program().
/// \param about  what it does, a sentence for --help
int run_example(const char* program, const char* about, int argc, char** argv,
                void (*run)(const Arguments&));

}  // namespace support
