#pragma once

#include <string>

namespace k8s_sd::test {

struct CommandOutput {
    std::string text;  ///< of the standard output
    bool success = false;
};

/// Runs it by the shell.
CommandOutput run_command(const std::string& command);

}  // namespace k8s_sd::test
