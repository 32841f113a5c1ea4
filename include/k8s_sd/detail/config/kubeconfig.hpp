#pragma once

#include "k8s_sd/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The server and user of a context of a kubeconfig (YAML or JSON), as kubectl reads it: relative
/// paths are relative to the file's directory, "*-data" wins over the file, tokenFile over token;
/// unknown fields are ignored. Credentials of a server without TLS are dropped, as client-go does.
/// \param path     one file, or several separated by colons (see load_kubeconfig_files)
/// \param context  empty: current-context
/// \throws ConfigError naming file, line and key; also for what is not supported: exec,
///         auth-provider, proxy-url, impersonation
ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context);

/// The same for several files merged as kubectl merges $KUBECONFIG: of each cluster, user and
/// context the first file that names it counts, and the first current-context that is not empty.
/// Files that do not exist are skipped unless it is the only one.
ApiServerConfig load_kubeconfig_files(const std::vector<std::string>& paths,
                                      const std::string& context);

/// "a:b" -> {"a", "b"}, without empty and repeated ones.
std::vector<std::string> split_path_list(std::string_view list);

}  // namespace k8s_sd::inline v0::detail
