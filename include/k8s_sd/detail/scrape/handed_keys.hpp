#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
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

/// The keys of one kind of mapping in a configuration file.
struct KnownKeys {
    std::vector<std::string_view> used{};  ///< k8s_sd acts on them
    /// Read into ScrapeClient: k8s_sd understands them, but only the host can act on them.
    std::vector<std::string_view> client{};
    std::span<const HandedKey> handed{};  ///< go to the host as JSON
    bool has_discovery = false;  ///< whatever looks like a kind of discovery is one of those
};

/// Hands the host what k8s_sd does nothing with, and notes it.
class KeyHandover {
 public:
    KeyHandover(const ScrapeConfigOptions& options, std::vector<ConfigNote>& notes)
        : options_(options), notes_(notes) {}

    /// Looks at all keys of a mapping.
    /// \throws ConfigError if it is no mapping
    void hand_over(const YamlValue& mapping, const KnownKeys&, ConfigValues&, Mistakes&);

 private:
    void hand_over_one(std::string_view key, const YamlValue&, const KnownKeys&, ConfigValues&);
    void check_unknown(std::string_view key, const YamlValue&, const KnownKeys&, bool is_discovery);
    bool is_misspelt(std::string_view key, const KnownKeys&, bool is_discovery);
    void note(const YamlValue&, ConfigNoteKind);
    static std::string json_of(const YamlValue&, KeyShape);

    const ScrapeConfigOptions& options_;
    std::vector<ConfigNote>& notes_;
    /// To look for a name that is near takes time, and a hostile file has very many different keys.
    static constexpr std::size_t most_looked_up = 1'000;
    /// Whether a key is nearly one of those known: of others, and of kinds of discovery.
    std::map<std::pair<const KnownKeys*, std::string>, bool> looked_up_[2];
    std::size_t refused_ = 0;
};

/// Gives a job what `global` says about keys that it says nothing about. Returns bytes of that.
std::size_t inherit_settings(const ConfigValues& global, ConfigValues& job);

}  // namespace k8s_sd::inline v0::detail
