#pragma once

#include "k8s_sd/config.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A kubeconfig that somebody has read.
struct KubeconfigFile {
    std::string path;  ///< relative paths in it are relative to its directory
    std::string_view content;
};

/// The server and user of a context of kubeconfigs (YAML or JSON), as kubectl reads and merges
/// them: of each cluster, user and context the first file that names it counts, and the first
/// current-context that is not empty. "*-data" wins over the file, tokenFile over token, every
/// other credential over exec; unknown fields are ignored. Credentials of a server without TLS are
/// dropped, as client-go does. The URL is canonical; the origin says where all this is from.
/// \param context  empty: current-context
/// \param own      see complete_server(); headers, impersonation and proxy of the configuration
/// \throws ConfigError naming file, line and key, and never the value of a secret
ApiServerConfig read_kubeconfig(std::span<const KubeconfigFile>, const std::string& context,
                                const ApiServerConfig& own = {});

/// The same for files that are to be read. Those that do not exist are skipped unless there is only
/// one.
/// \param path  one file, or several separated by colons; a file of this name is one
ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context,
                                const ApiServerConfig& own = {});

/// "a:b" -> {"a", "b"}, without empty and repeated ones.
std::vector<std::string> split_path_list(std::string_view list);

}  // namespace k8s_sd::inline v0::detail
