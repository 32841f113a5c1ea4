#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/shared_values.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The HTTP client settings of a job. Files are kept by name and not read.
struct ScrapeClient {
    AuthConfig auth{};                  ///< credentials; none by default
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    std::vector<HttpHeader> headers{};  ///< sent with every request
    bool follow_redirects = true;       ///< whether the client follows redirects
    bool enable_http2 = true;           ///< whether the client may use HTTP/2
    auto operator<=>(const ScrapeClient&) const = default;
};

/// A value of a configuration file without a type in k8s_sd.
struct ConfigValue {
    std::string json{};   ///< with YAML's anchors and merge keys resolved; may be secret
    std::string where{};  ///< "file:line: key"
    /// Compares the values regardless of their location.
    friend bool operator==(const ConfigValue& a, const ConfigValue& b) { return a.json == b.json; }
    /// Compares the values regardless of their location.
    friend auto operator<=>(const ConfigValue& a, const ConfigValue& b) {
        return a.json <=> b.json;
    }
};

/// Values by key.
using ConfigValues = std::map<std::string, ConfigValue, std::less<>>;

/// One entry of `scrape_configs`, without loss of any setting.
struct ScrapeJob {
    ScrapeConfig scrape{};               ///< how to make scrape targets
    Job discovery{};                     ///< how to discover targets; has the same name
    SharedValue<ScrapeClient> client{};  ///< how to scrape
    ConfigValues settings{};             ///< all other keys, with the defaults of `global`
    auto operator<=>(const ScrapeJob&) const = default;
};

/// The subject of a key ignored by k8s_sd.
enum class ConfigNoteKind : std::uint8_t {
    targets,   ///< targets missing unless the host discovers them: `consul_sd_configs`
    scraping,  ///< how to scrape: `authorization`, `honor_labels`
    samples,   ///< the processing of samples, and the rest: `sample_limit`, `remote_write`
    unknown,   ///< an unknown key, perhaps of a newer program
};

/// A key of a file ignored by k8s_sd. Its value is in ScrapeJob or ScrapeConfigFile.
struct ConfigNote {
    std::string where{};                            ///< "file:line: key"
    std::string text{};                             ///< for users: the ignored key and the reason
    ConfigNoteKind kind = ConfigNoteKind::unknown;  ///< see above
    auto operator<=>(const ConfigNote&) const = default;
};

/// A mistake in a file.
struct ScrapeConfigFailure {
    /// Name of the unusable job. Empty: the job has no name, or the mistake is in an entry of
    /// `scrape_config_files` or concerns the whole file.
    std::string job{};
    std::string where{};    ///< "file:line: key"
    std::string message{};  ///< the problem and the allowed values; without credentials
    auto operator<=>(const ScrapeConfigFailure&) const = default;
};

/// The content of a configuration file of Prometheus or vmagent.
struct K8S_SD_EXPORT ScrapeConfigFile {
    std::vector<ScrapeJob> jobs{};    ///< usable jobs, in the order of the file
    std::vector<ConfigNote> notes{};  ///< keys ignored by k8s_sd; the first 10 000
    /// All mistakes, up to a maximum number; jobs with a mistake are not in `jobs`.
    std::vector<ScrapeConfigFailure> failures{};
    ConfigValues global{};    ///< keys of `global` without a meaning for k8s_sd
    ConfigValues settings{};  ///< the same for the top level, such as `remote_write`
    /// Whether the file has `scrape_configs` or `scrape_config_files`, possibly empty lists. False
    /// for an empty file, for one with comments only, and for `scrape_configs:` without a value:
    /// such a file may be truncated, so it is no reason to remove jobs.
    bool lists_jobs = false;
    auto operator<=>(const ScrapeConfigFile&) const = default;

    /// The jobs for DiscoveryManager::apply_config().
    std::vector<Job> discovery_jobs() const;
};

/// How to read a configuration file.
struct ScrapeConfigOptions {
    LabelDialect dialect = LabelDialect::prometheus;  ///< the dialect of the file
    /// The version of Prometheus with the targets of all jobs, see DiscoveryConfig; a file cannot
    /// state it.
    PrometheusVersion prometheus_version = PrometheusVersion::v3_5;
    /// Treats every note as a mistake, and refuses the whole file for a mistake in one job.
    bool strict = false;
    /// Limit of the file together with those of `scrape_config_files`.
    std::size_t max_bytes = std::size_t{16} << 20;
    /// Provided by the host; see VariableLookup.
    VariableLookup variables{};
};

/// An unusable file. what() has one line for each mistake.
class K8S_SD_EXPORT ScrapeConfigError : public ConfigError {
 public:
    /// \param failures  at least one
    explicit ScrapeConfigError(std::vector<ScrapeConfigFailure> failures);
    /// All mistakes, up to a maximum number, first those of the whole file, then job by job;
    /// where() and problem() are those of the first.
    const std::vector<ScrapeConfigFailure>& failures() const noexcept { return content_->failures; }
    /// All mistakes, one on each line.
    const char* what() const noexcept override { return content_->text.c_str(); }

 private:
    struct Content {
        std::vector<ScrapeConfigFailure> failures;
        std::string text;
    };
    std::shared_ptr<const Content> content_;
};

/// Reads a configuration file: `global`, `scrape_configs` and `scrape_config_files`, with their
/// defaults. A job with a mistake is left out and reported in `failures`. Settings without a use in
/// k8s_sd are passed to the host unchanged, with a note. Relative paths are relative to the
/// directory of `file_name`. docs/guide/scrape-configs.md lists all keys. Blocks on the files of
/// `scrape_config_files`. Thread-safe.
/// \throws ScrapeConfigError if the whole file is unusable: it is no YAML, or `global` is invalid;
///         if `strict`, for any mistake
K8S_SD_EXPORT ScrapeConfigFile parse_scrape_configs(std::string_view yaml,
                                                    const ScrapeConfigOptions& = {},
                                                    const std::string& file_name = "<yaml>");

/// Reads and parses a file; blocks. See parse_scrape_configs().
/// \throws ScrapeConfigError also for an unreadable file
K8S_SD_EXPORT ScrapeConfigFile load_scrape_configs(const std::string& path,
                                                   const ScrapeConfigOptions& = {});

}  // namespace k8s_sd::inline v0
