#pragma once

namespace bridge {

/// `k8s-sd follow`: lists of a server in files, for an agent beside it that reads file_sd_configs.
/// \param argv  begins with "follow" \returns the exit status
int run_follow(int argc, char** argv);

}  // namespace bridge
