#pragma once

namespace k8s_sd_program {

/// `k8s-sd follow`: lists of a server as files, for a local agent with file_sd_configs.
/// \param argv  begins with "follow" \returns the exit status
int run_follow(int argc, char** argv);

}  // namespace k8s_sd_program
