#pragma once

#include "k8s_sd/config.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The content of a kubeconfig file.
struct KubeconfigFile {
    std::string path;  ///< relative paths in it are relative to its directory
    std::string_view content;
};

/// The server and user of a context in kubeconfigs (YAML or JSON), read and merged like kubectl:
/// for each cluster, user and context the first file with that name counts, and the first non-empty
/// current-context. "*-data" wins over the file, tokenFile over token, every other credential over
/// exec; unknown fields are ignored. Credentials of a server without TLS are dropped, as in
/// client-go. The URL is canonical; the result also records its origin.
/// \param context  empty: current-context
/// \param own      see complete_server(); headers, impersonation and proxy of the configuration
/// \throws ConfigError naming file, line and key, and never the value of a secret
ApiServerConfig read_kubeconfig(std::span<const KubeconfigFile>, const std::string& context,
                                const ApiServerConfig& own = {});

/// Reads the files first. Missing files are skipped unless there is only one.
/// \param path  one file, or several separated by colons; an existing file of this whole name wins
ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context,
                                const ApiServerConfig& own = {});

/// "a:b" -> {"a", "b"}, without empty and repeated paths.
std::vector<std::string> split_path_list(std::string_view list);

}  // namespace k8s_sd::inline v0::detail
