#pragma once

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

}  // namespace k8s_sd::inline v0::detail
