#pragma once

#include <cstdint>
#include <string>

namespace k8s_sd::test {

struct CommandOutput {
    std::string text;  ///< of the standard output
    bool success = false;
};

/// Runs the command in a shell.
CommandOutput run_command(const std::string& command);

/// The path in the folder $K8S_SD_PEERS, or of the installed program; empty: not found.
std::string find_program(const std::string& name);

/// The number in an environment variable.
std::uint64_t setting(const char* variable, std::uint64_t fallback);

}  // namespace k8s_sd::test
