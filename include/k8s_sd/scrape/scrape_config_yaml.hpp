#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// How the HTTP client of a job scrapes. Nothing of it has been looked for: files are names.
struct ScrapeClient {
    AuthConfig auth{};                  ///< credentials; none by default
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    std::vector<HttpHeader> headers{};  ///< of every request
    bool follow_redirects = true;       ///< whether the client goes where an answer sends it
    bool enable_http2 = true;           ///< whether the client may speak HTTP/2
    auto operator<=>(const ScrapeClient&) const = default;
};

/// A value of a configuration file for which k8s_sd has no type.
struct ConfigValue {
    std::string json{};   ///< with YAML's anchors and merge keys resolved; may be secret
    std::string where{};  ///< "file:line: key"
    /// Values that only stand elsewhere are equal.
    friend bool operator==(const ConfigValue& a, const ConfigValue& b) { return a.json == b.json; }
    /// The same.
    friend auto operator<=>(const ConfigValue& a, const ConfigValue& b) {
        return a.json <=> b.json;
    }
};

/// By key.
using ConfigValues = std::map<std::string, ConfigValue, std::less<>>;

/// One entry of `scrape_configs`. Nothing that a file says is lost.
struct ScrapeJob {
    ScrapeConfig scrape{};    ///< what becomes of the targets
    Job discovery{};          ///< where they come from; of the same name
    ScrapeClient client{};    ///< how they are scraped
    ConfigValues settings{};  ///< all other keys; where `global` has defaults, with those
    auto operator<=>(const ScrapeJob&) const = default;
};

/// What a key that k8s_sd does nothing with is about.
enum class ConfigNoteKind : std::uint8_t {
    targets,   ///< targets are missing unless the host finds them: `consul_sd_configs`
    scraping,  ///< how to scrape: `authorization`, `honor_labels`
    samples,   ///< what becomes of samples, and all the rest: `sample_limit`, `remote_write`
    unknown,   ///< nobody knows: a newer program, perhaps
};

/// A key of a file that k8s_sd does nothing with. What it says is in ScrapeJob or
/// ScrapeConfigFile.
struct ConfigNote {
    std::string where{};                            ///< "file:line: key"
    std::string text{};                             ///< for people: what is ignored, and why
    ConfigNoteKind kind = ConfigNoteKind::unknown;  ///< what it is about
    auto operator<=>(const ConfigNote&) const = default;
};

/// A mistake in a file.
struct ScrapeConfigFailure {
    /// That cannot be used. Empty: it has no name, or this is about an entry of
    /// `scrape_config_files` or the whole file.
    std::string job{};
    std::string where{};    ///< "file:line: key"
    std::string message{};  ///< what is wrong and what is allowed; without credentials
    auto operator<=>(const ScrapeConfigFailure&) const = default;
};

/// What a configuration file of Prometheus or vmagent says.
struct K8S_SD_EXPORT ScrapeConfigFile {
    std::vector<ScrapeJob> jobs{};    ///< that can be used, in the order of the file
    std::vector<ConfigNote> notes{};  ///< keys that k8s_sd does nothing with; the first 10 000
    /// All mistakes, up to a number; the jobs that have one are not in `jobs`.
    std::vector<ScrapeConfigFailure> failures{};
    ConfigValues global{};    ///< keys of `global` that have no meaning for k8s_sd
    ConfigValues settings{};  ///< the same of the top level, such as `remote_write`
    /// Whether the file has `scrape_configs` or `scrape_config_files`, each of them perhaps an
    /// empty list. False for an empty file, for one of comments only, and for `scrape_configs:`
    /// without a value: such a file may be cut, so it is no reason to remove jobs.
    bool lists_jobs = false;
    auto operator<=>(const ScrapeConfigFile&) const = default;

    /// For DiscoveryManager::apply_config().
    std::vector<Job> discovery_jobs() const;
};

/// How to read a configuration file.
struct ScrapeConfigOptions {
    LabelDialect dialect = LabelDialect::prometheus;  ///< whose file it is
    /// Every note is a mistake, and a mistake in one job refuses the whole file.
    bool strict = false;
    /// Of the file together with those of `scrape_config_files`.
    std::size_t max_bytes = std::size_t{16} << 20;
    /// Of the host; see there.
    VariableLookup variables{};
};

/// A file that cannot be used. what() tells every mistake on a line of its own.
class K8S_SD_EXPORT ScrapeConfigError : public ConfigError {
 public:
    /// \param failures  at least one
    explicit ScrapeConfigError(std::vector<ScrapeConfigFailure> failures);
    /// All mistakes, up to a number, first those of the whole file, then job by job; where() and
    /// problem() are those of the first.
    const std::vector<ScrapeConfigFailure>& failures() const noexcept { return told_->failures; }
    /// Every mistake on a line of its own.
    const char* what() const noexcept override { return told_->text.c_str(); }

 private:
    struct Told {
        std::vector<ScrapeConfigFailure> failures;
        std::string text;
    };
    std::shared_ptr<const Told> told_;
};

/// Reads a configuration file: `global`, `scrape_configs` and `scrape_config_files`, with their
/// defaults. A job with a mistake is left out and told in `failures`. What k8s_sd has no use for
/// comes to the host as it is, with a note. Relative paths are relative to the directory of
/// `file_name`. docs/guide/scrape-configs.md lists all keys. Blocks on the files of
/// `scrape_config_files`. Thread-safe.
/// \throws ScrapeConfigError if nothing of it can be used: it is no YAML, or `global` is wrong; or
///         for any mistake if `strict`
K8S_SD_EXPORT ScrapeConfigFile parse_scrape_configs(std::string_view yaml,
                                                    const ScrapeConfigOptions& = {},
                                                    const std::string& file_name = "<yaml>");

/// Reads the file; blocks. See parse_scrape_configs().
/// \throws ScrapeConfigError also where the file cannot be read
K8S_SD_EXPORT ScrapeConfigFile load_scrape_configs(const std::string& path,
                                                   const ScrapeConfigOptions& = {});

}  // namespace k8s_sd::inline v0
