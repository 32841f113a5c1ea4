#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

// Every member of these aggregates has an initialiser so that designated initialisers that leave
// some out do not warn.

/// Targets that the configuration names itself; one entry of `static_configs`.
struct StaticConfig {
    std::vector<std::string> targets{};           ///< the value of `__address__` of each
    std::map<std::string, std::string> labels{};  ///< of all of them
    auto operator<=>(const StaticConfig&) const = default;
};

/// Files that list targets; one entry of `file_sd_configs`.
struct FileSdConfig {
    /// Paths; the last part of each may hold `*`, which stands for any characters but `/`. For
    /// LabelDialect::prometheus a name ends with .json, .yml or .yaml; for
    /// LabelDialect::victoriametrics every part may be a pattern, also with `?` and `[a-z]`.
    std::vector<std::string> files{};
    /// What `__meta_filepath` is told relative to by LabelDialect::victoriametrics. Empty: nothing.
    std::string directory{};
    /// Time between two looks at the files; above 0. Looks come at most once a second.
    Duration interval = std::chrono::seconds(5);
    /// Whose rules apply to files and labels.
    LabelDialect dialect = LabelDialect::prometheus;
    std::size_t max_files = 1'000;                       ///< beyond it files are not read
    std::size_t max_file_bytes = std::size_t{16} << 20;  ///< of one file
    std::size_t max_bytes = std::size_t{64} << 20;       ///< of all files
    std::size_t max_targets = 1'000'000;                 ///< of all files
    auto operator<=>(const FileSdConfig&) const = default;
};

/// A URL that answers with a list of targets; one entry of `http_sd_configs`.
struct HttpSdConfig {
    std::string url{};                  ///< http or https, with path and query; no user
    AuthConfig auth{};                  ///< credentials; none: no header is sent
    std::vector<HttpHeader> headers{};  ///< sent with every request
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    /// Follows up to ten redirects that stay on the same server.
    bool follow_redirects = true;
    /// Time from one request to the next, which is what a request may take, too (an hour at most);
    /// above 0. Requests come at most once a second.
    Duration interval = std::chrono::seconds(60);
    /// Whose rules apply to the answer and labels.
    LabelDialect dialect = LabelDialect::prometheus;
    std::size_t max_bytes = std::size_t{32} << 20;  ///< of an answer
    std::size_t max_targets = 1'000'000;            ///< of an answer
    auto operator<=>(const HttpSdConfig&) const = default;
};

/// Checks everything that can be checked without reading a file. Thread-safe.
/// \throws ConfigError naming the field and what is allowed
K8S_SD_EXPORT void validate(const StaticConfig&);
/// The same.
K8S_SD_EXPORT void validate(const FileSdConfig&);
/// The same.
K8S_SD_EXPORT void validate(const HttpSdConfig&);

}  // namespace k8s_sd::inline v0
