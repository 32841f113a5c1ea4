#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/time.hpp"

#include <filesystem>
#include <string>

namespace kubectl_sd {

/// A key of a ConfigMap.
struct ConfigMapKey {
    std::string ns;
    std::string name;  ///< empty: none
    std::string key;   ///< empty: the only one, or a usual one
};

/// Reads "monitoring/prometheus" or "monitoring/prometheus/prometheus.yml".
/// \throws cli::UsageError
ConfigMapKey read_config_map_key(const std::string& text);

/// A value of a ConfigMap.
struct ConfigMapText {
    std::string key;
    std::string text;
};

/// Reads it from the API server, once. Blocks.
/// \param server  the server and the credentials \throws std::runtime_error
ConfigMapText read_config_map(const ConfigMapKey&, const k8s_sd::DiscoveryConfig& server,
                              k8s_sd::Duration timeout);

/// The value in a file of this process's user, with the name of the key.
class ConfigMapFile {
 public:
    /// \throws std::runtime_error
    explicit ConfigMapFile(const ConfigMapText&);
    ~ConfigMapFile();
    ConfigMapFile(const ConfigMapFile&) = delete;
    ConfigMapFile& operator=(const ConfigMapFile&) = delete;

    std::string path() const { return path_.string(); }

 private:
    void remove() const noexcept;

    std::filesystem::path path_;
};

}  // namespace kubectl_sd
