#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The required form of a value.
enum class KeyShape : std::uint8_t {
    any,       ///< validated by the host
    boolean,   ///< true or false
    whole,     ///< a whole number
    number,    ///< any number
    text,      ///< a scalar
    size,      ///< "10MB" of Prometheus
    vm_size,   ///< "10MB" of vmagent, which accepts more
    duration,  ///< "1m"
    list,      ///< a sequence
    mapping,   ///< a mapping
    texts,     ///< a mapping of names to scalars, always read as texts
};

struct HandedKey {
    std::string_view name;
    ConfigNoteKind about;
    KeyShape shape = KeyShape::any;
    /// The value in `global` applies to jobs without a value, or with 0 or "".
    bool inherited = false;
};

inline constexpr auto about_targets = ConfigNoteKind::targets;
inline constexpr auto about_scraping = ConfigNoteKind::scraping;
inline constexpr auto about_samples = ConfigNoteKind::samples;

inline constexpr HandedKey handed_top_level_keys[] = {
    {"alerting", about_samples, KeyShape::mapping}, {"otlp", about_samples, KeyShape::mapping},
    {"remote_read", about_samples, KeyShape::list}, {"remote_write", about_samples, KeyShape::list},
    {"rule_files", about_samples, KeyShape::list},  {"runtime", about_samples, KeyShape::mapping},
    {"storage", about_samples, KeyShape::mapping},  {"tracing", about_samples, KeyShape::mapping},
};

inline constexpr HandedKey handed_global_keys[] = {
    {"body_size_limit", about_scraping, KeyShape::size},
    {"evaluation_interval", about_samples, KeyShape::duration},
    {"external_labels", about_samples, KeyShape::texts},
    {"extra_scrape_metrics", about_samples, KeyShape::boolean},
    {"label_limit", about_samples, KeyShape::whole},
    {"label_name_length_limit", about_samples, KeyShape::whole},
    {"label_value_length_limit", about_samples, KeyShape::whole},
    {"metric_name_escaping_scheme", about_scraping, KeyShape::text},
    {"query_log_file", about_samples, KeyShape::text},
    {"rule_query_offset", about_samples, KeyShape::duration},
    {"sample_limit", about_samples, KeyShape::whole},
    {"scrape_failure_log_file", about_scraping, KeyShape::text},
    {"scrape_protocols", about_scraping, KeyShape::list},
};

/// In addition, all keys ending with `_sd_configs`; see is_discovery_key().
inline constexpr HandedKey handed_job_keys[] = {
    {"body_size_limit", about_scraping, KeyShape::size, true},
    {"disable_compression", about_scraping, KeyShape::boolean},
    {"disable_keepalive", about_scraping, KeyShape::boolean},
    {"enable_compression", about_scraping, KeyShape::boolean},
    {"extra_scrape_metrics", about_samples, KeyShape::boolean, true},
    {"fallback_scrape_protocol", about_scraping, KeyShape::text},
    {"honor_labels", about_scraping, KeyShape::boolean},
    {"honor_timestamps", about_scraping, KeyShape::boolean},
    {"label_limit", about_samples, KeyShape::whole, true},
    {"label_name_length_limit", about_samples, KeyShape::whole, true},
    {"label_value_length_limit", about_samples, KeyShape::whole, true},
    {"max_scrape_size", about_scraping, KeyShape::vm_size},
    {"metric_name_escaping_scheme", about_scraping, KeyShape::text, true},
    {"metric_relabel_debug", about_samples, KeyShape::boolean},
    {"native_histogram_bucket_limit", about_samples, KeyShape::whole},
    {"native_histogram_min_bucket_factor", about_samples, KeyShape::number},
    {"no_stale_markers", about_samples, KeyShape::boolean},
    {"proxy_authorization", about_scraping, KeyShape::texts},
    {"proxy_basic_auth", about_scraping, KeyShape::texts},
    {"proxy_bearer_token", about_scraping, KeyShape::text},
    {"proxy_bearer_token_file", about_scraping, KeyShape::text},
    {"proxy_headers", about_scraping, KeyShape::list},
    {"proxy_oauth2", about_scraping, KeyShape::mapping},
    {"proxy_tls_config", about_scraping, KeyShape::mapping},
    {"relabel_debug", about_samples, KeyShape::boolean},
    {"sample_limit", about_samples, KeyShape::whole, true},
    {"scrape_align_interval", about_scraping, KeyShape::duration},
    {"scrape_classic_histograms", about_samples, KeyShape::boolean},
    {"scrape_failure_log_file", about_scraping, KeyShape::text, true},
    {"scrape_offset", about_scraping, KeyShape::duration},
    {"scrape_protocols", about_scraping, KeyShape::list, true},
    {"series_limit", about_samples, KeyShape::whole},
    {"stream_parse", about_scraping, KeyShape::boolean},
    {"track_timestamps_staleness", about_scraping, KeyShape::boolean},
    {"vultr_configs", about_targets, KeyShape::list},
};

/// Nearly every version of both programs adds such keys.
constexpr bool is_discovery_key(std::string_view key) noexcept {
    return key.ends_with("_sd_configs");
}

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
