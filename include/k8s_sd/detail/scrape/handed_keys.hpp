#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/scrape/scrape_config_keys.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The known keys of one kind of mapping in a configuration file.
struct KnownKeys {
    std::vector<std::string_view> used{};  ///< implemented by k8s_sd
    /// Read into ScrapeClient: understood by k8s_sd, but implemented by the host.
    std::vector<std::string_view> client{};
    std::span<const HandedKey> handed{};  ///< passed to the host as JSON
    bool has_discovery = false;  ///< keys of unknown discovery mechanisms are passed as well
};

/// Passes the keys that k8s_sd does not implement to the host, with notes.
class KeyHandover {
 public:
    KeyHandover(const ScrapeConfigOptions& options, std::vector<ConfigNote>& notes)
        : options_(options), notes_(notes) {}

    /// Processes all keys of a mapping.
    /// \throws ConfigError if the value is not a mapping
    void hand_over(const YamlValue& mapping, const KnownKeys&, ConfigValues&, Mistakes&);

 private:
    void hand_over_one(std::string_view key, const YamlValue&, const KnownKeys&, ConfigValues&);
    void check_unknown(std::string_view key, const YamlValue&, const KnownKeys&, bool is_discovery);
    bool is_misspelt(std::string_view key, const KnownKeys&, bool is_discovery);
    void note(const YamlValue&, ConfigNoteKind);
    static std::string json_of(const YamlValue&, KeyShape);

    const ScrapeConfigOptions& options_;
    std::vector<ConfigNote>& notes_;
    /// Limits the searches for similar names, because a hostile file may contain many different
    /// keys.
    static constexpr std::size_t max_looked_up = 1'000;
    /// Whether a key resembles a known one: for other keys, and for keys of discovery.
    std::map<std::pair<const KnownKeys*, std::string>, bool> looked_up_[2];
    std::size_t refused_ = 0;
};

/// Copies the settings of `global` to a job without its own.
/// \returns the number of copied bytes
std::size_t inherit_settings(const ConfigValues& global, ConfigValues& job);

}  // namespace k8s_sd::inline v0::detail
