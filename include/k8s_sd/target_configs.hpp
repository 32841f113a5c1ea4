#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

// Every member of these aggregates has an initializer, so designated initializers may omit members
// without a warning.

/// Targets listed in the configuration itself; one entry of `static_configs`.
struct StaticConfig {
    std::vector<std::string> targets{};           ///< values of `__address__`
    std::map<std::string, std::string> labels{};  ///< labels of all targets
    auto operator<=>(const StaticConfig&) const = default;
};

/// Files with lists of targets; one entry of `file_sd_configs`.
struct FileSdConfig {
    /// Paths; `*` in the last component stands for any characters except `/`. For
    /// LabelDialect::prometheus a name ends with .json, .yml or .yaml; for
    /// LabelDialect::victoriametrics every component may be a pattern, also with `?` and `[a-z]`.
    std::vector<std::string> files{};
    /// For LabelDialect::victoriametrics: the base of relative `__meta_filepath`s. Empty: none.
    std::string directory{};
    /// Time between two scans of the files; above 0. At most one scan per second.
    Duration interval = std::chrono::seconds(5);
    /// The dialect of files and labels.
    LabelDialect dialect = LabelDialect::prometheus;
    std::size_t max_files = 1'000;                       ///< further files are not read
    std::size_t max_file_bytes = std::size_t{16} << 20;  ///< limit of one file
    std::size_t max_bytes = std::size_t{64} << 20;       ///< limit of all files
    std::size_t max_targets = 1'000'000;                 ///< limit of all files
    auto operator<=>(const FileSdConfig&) const = default;
};

/// A URL serving a list of targets; one entry of `http_sd_configs`.
struct HttpSdConfig {
    std::string url{};                  ///< http or https, with path and query; no user
    AuthConfig auth{};                  ///< credentials; none: no header is sent
    std::vector<HttpHeader> headers{};  ///< sent with every request
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    /// Follows up to ten redirects to the same server.
    bool follow_redirects = true;
    /// Time from one request to the next, also the timeout of a request (at most an hour); above 0.
    /// At most one request is sent per second.
    Duration interval = std::chrono::seconds(60);
    /// The dialect of the response and of labels.
    LabelDialect dialect = LabelDialect::prometheus;
    std::size_t max_bytes = std::size_t{32} << 20;  ///< limit of a response
    std::size_t max_targets = 1'000'000;            ///< limit of a response
    auto operator<=>(const HttpSdConfig&) const = default;
};

/// Performs all checks possible without reading a file. Thread-safe.
/// \throws ConfigError with the field and the allowed values
K8S_SD_EXPORT void validate(const StaticConfig&);
/// The same.
K8S_SD_EXPORT void validate(const FileSdConfig&);
/// The same.
K8S_SD_EXPORT void validate(const HttpSdConfig&);

}  // namespace k8s_sd::inline v0
