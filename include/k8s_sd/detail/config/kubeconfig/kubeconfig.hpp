#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <filesystem>
#include <map>
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

/// The text of one kubeconfig.
struct KubeconfigText {
    std::string path;
    std::string content;
};

/// Reads the files of load_kubeconfig().
std::vector<KubeconfigText> read_kubeconfig_files(const std::string& path);

/// Reads the files first. Missing files are skipped unless there is only one.
/// \param path  one file, or several separated by colons; an existing file of this whole name wins
ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context,
                                const ApiServerConfig& own = {});

/// "a:b" -> {"a", "b"}, without empty and repeated paths.
std::vector<std::string> split_path_list(std::string_view list);

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

/// Names for a message; of a long list the first ones, and the number of the others.
std::string join_first(const std::vector<std::string>& names);

/// "the kubeconfig has a, b" or "the kubeconfig has none"
std::string list_names(const KubeconfigEntries&);

/// Credentials, client certificate and impersonation.
/// \param cluster  may contain an extension for a credential plugin
void read_user(const KubeconfigEntry& user, const YamlValue& cluster, ApiServerConfig&);

/// "<key>-data" wins over the file named by "<key>".
void read_pem(const KubeconfigEntry&, const std::string& key, std::string& text, std::string& file);

/// A text for a header or a handshake.
std::string read_line(const YamlValue&);

}  // namespace k8s_sd::inline v0::detail
