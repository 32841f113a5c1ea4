#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/system/error_code.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

namespace k8s_sd::inline v0 {

using boost::system::error_code;

/// Conditions that k8s_sd decides itself. Transport errors keep the categories of Asio and
/// OpenSSL.
enum class errc {
    invalid_config = 1,        ///< the configuration contradicts itself
    credentials_unavailable,   ///< a token, password, certificate or key file cannot be read
    bad_request,               ///< HTTP 400 or 422: the server rejects a selector or parameter
    unauthorized,              ///< HTTP 401: credentials missing, expired or unknown
    forbidden,                 ///< HTTP 403: a permission (RBAC) is missing
    not_found,                 ///< HTTP 404: the API or path does not exist on this server
    expired,                   ///< HTTP 410 or an ERROR event with code 410: list again
    version_too_large,         ///< the resource version is from the future of this server
    too_many_requests,         ///< HTTP 429
    server_error,              ///< HTTP 5xx
    unexpected_status,         ///< any other HTTP status
    unexpected_content_type,   ///< the body is not the JSON that was asked for
    malformed_response,        ///< the body is not valid JSON or not a list or watch event
    truncated_response,        ///< the connection ended in the middle of a list
    missing_resource_version,  ///< a list without metadata.resourceVersion
    bad_object,                ///< one object of a list or event has the wrong shape
    object_too_large,          ///< one object exceeds WatchOptions::max_object_bytes
    header_too_large,          ///< a response header exceeds 64 KiB
    connect_timeout,           ///< no connection (TCP and TLS) in WatchOptions::connect_timeout
    response_timeout,          ///< no progress of a response in WatchOptions::response_timeout
    idle_timeout,              ///< a watch was silent for longer than it may be
    not_referenced,            ///< nobody refers to the object: ObjectCache does not watch it
    object_not_found,          ///< the server has no object of that name
    not_synced,                ///< the object was not read in ObjectCacheConfig::get_timeout
    unexpected_encoding,       ///< the body is compressed although that was not asked for
    endless_list,              ///< the pages of a list repeat, or do not end
    too_many_objects,          ///< a list or watch exceeds WatchOptions::max_objects
    short_watches,             ///< watches end at once, one after the other, and bring nothing
    too_many_watches,          ///< ServerLimits::watches are open: this URL is polled instead
    connector_failed,          ///< the Connector, or OpenSSL, threw an exception
    proxy_failed,              ///< the proxy does not connect to the server, or is none
    source_failed,             ///< the host says so of its TargetSource
    target_file_failed,        ///< a file of targets cannot be read or understood
    target_list_too_large,     ///< a list of targets exceeds the limits of its configuration
};

/// The category "k8s_sd"; one object per process.
K8S_SD_EXPORT const boost::system::error_category& category() noexcept;
/// Makes `errc` convertible to error_code.
K8S_SD_EXPORT error_code make_error_code(errc) noexcept;

/// Thrown by constructors and parsers for a configuration that cannot work. `what()` names the
/// field (or the YAML file, line and key), says what is wrong and what is allowed.
class K8S_SD_EXPORT ConfigError : public std::invalid_argument {
 public:
    /// \param where  a field such as "namespaces.own_namespace" or "sd.yaml:3: role"
    ConfigError(const std::string& where, const std::string& problem)
        : std::invalid_argument(where + ": " + problem), where_(where), problem_(problem) {}
    /// The field, or the file, line and key.
    const std::string& where() const noexcept { return where_; }
    /// What is wrong and what is allowed; without credentials.
    const std::string& problem() const noexcept { return problem_; }

 private:
    std::string where_;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0

template <>
struct boost::system::is_error_code_enum<k8s_sd::errc> : std::true_type {};
