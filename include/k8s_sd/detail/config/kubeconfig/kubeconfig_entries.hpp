#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The body of a named cluster, user or context, and the directory of its file.
struct KubeconfigEntry {
    YamlValue body;
    std::filesystem::path directory;

    /// The path in this key; "" if there is none.
    std::string path(std::string_view key) const;
};

using KubeconfigEntries = std::map<std::string, KubeconfigEntry>;

/// Several kubeconfigs as one.
struct MergedKubeconfig {
    KubeconfigEntries clusters, users, contexts;
    std::string current_context;

    /// Existing entries win.
    void merge(const KubeconfigFile&);
};

/// \throws ConfigError if the reference is missing, or names a missing entry
const KubeconfigEntry& find_entry(const KubeconfigEntries&, const YamlValue& reference);

/// "there are a, b" or "there are none"
std::string list_names(const KubeconfigEntries&);

/// Credentials, client certificate and impersonation.
/// \param cluster  may contain an extension for a credential plugin
void read_user(const KubeconfigEntry& user, const YamlValue& cluster, ApiServerConfig&);

/// "<key>-data" wins over the file named by "<key>".
void read_pem(const KubeconfigEntry&, const std::string& key, std::string& text, std::string& file);

/// A text for a header or a handshake.
std::string read_line(const YamlValue&);

}  // namespace k8s_sd::inline v0::detail
