#pragma once

#include <string>

namespace k8s_sd::test {

struct CommandOutput {
    std::string text;  ///< of the standard output
    bool success = false;
};

/// Runs the command in a shell.
CommandOutput run_command(const std::string& command);

}  // namespace k8s_sd::test
