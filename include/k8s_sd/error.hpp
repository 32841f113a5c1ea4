#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/system/error_code.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace k8s_sd::inline v0 {

using boost::system::error_code;

/// Conditions detected by k8s_sd itself. Transport errors keep the categories of Asio and OpenSSL.
enum class errc {
    invalid_config = 1,        ///< the configuration contradicts itself
    credentials_unavailable,   ///< a token, password, certificate or key file cannot be read
    bad_request,               ///< HTTP 400 or 422: the server rejects a selector or parameter
    unauthorized,              ///< HTTP 401: credentials missing, expired or unknown
    forbidden,                 ///< HTTP 403: a permission (RBAC) is missing
    not_found,                 ///< HTTP 404: the API or path does not exist on this server
    expired,                   ///< HTTP 410 or an ERROR event with code 410: list again
    version_too_large,         ///< the resource version is newer than the server's
    too_many_requests,         ///< HTTP 429
    server_error,              ///< HTTP 5xx
    unexpected_status,         ///< any other HTTP status
    unexpected_content_type,   ///< the body is not in a requested content type
    malformed_response,        ///< the body cannot be decoded, or is no list or watch event
    truncated_response,        ///< the connection ended in the middle of a list
    missing_resource_version,  ///< a list without metadata.resourceVersion
    bad_object,                ///< one object of a list or event has the wrong shape
    object_too_large,          ///< one object exceeds max_object_bytes, or its labels 64 MiB
    header_too_large,          ///< a response header exceeds 64 KiB
    connect_timeout,           ///< no connection (TCP and TLS) within WatchOptions::connect_timeout
    response_timeout,          ///< no progress of a response in WatchOptions::response_timeout
    idle_timeout,              ///< a watch was silent beyond its idle timeout
    not_referenced,            ///< no reference to the object: ObjectCache does not watch it
    object_not_found,          ///< the server has no object of this name
    not_synced,                ///< the object was not read within ObjectCacheConfig::get_timeout
    unexpected_encoding,       ///< the body is compressed although not requested
    endless_list,              ///< the pages of a list repeat, or do not end
    too_many_objects,          ///< a list or watch exceeds WatchOptions::max_objects
    short_watches,             ///< several watches in a row ended at once, without progress
    too_many_watches,          ///< ServerLimits::watches are open: this URL is polled instead
    connector_failed,          ///< the Connector, or OpenSSL, threw an exception
    proxy_failed,              ///< the proxy does not connect to the server, or is no proxy
    source_failed,             ///< reported by the host with TargetSource::fail()
    target_file_failed,        ///< a file of targets cannot be read or understood
    target_list_too_large,     ///< a list of targets exceeds the limits of its configuration
    too_many_targets,          ///< an object exceeds WatchOptions::max_targets_per_object
    ping_timeout,              ///< a silent HTTP/2 connection did not answer a PING
};

/// The category "k8s_sd"; one object per process.
K8S_SD_EXPORT const boost::system::error_category& category() noexcept;
/// Makes `errc` convertible to error_code.
K8S_SD_EXPORT error_code make_error_code(errc) noexcept;

/// Thrown by constructors and parsers for an unusable configuration. `what()` names the field (or
/// the YAML file, line and key), the problem and the allowed values.
class K8S_SD_EXPORT ConfigError : public std::invalid_argument {
 public:
    /// \param where  a field such as "namespaces.own_namespace" or "sd.yaml:3: role"
    ConfigError(const std::string& where, const std::string& problem)
        : std::invalid_argument(where + ": " + problem), where_(where), problem_(problem) {}
    /// The field, or the YAML file, line and key.
    const std::string& where() const noexcept { return where_; }
    /// The problem and the allowed values; without credentials.
    const std::string& problem() const noexcept { return problem_; }

 private:
    std::string where_;
    std::string problem_;
};

/// The text of an error for users: the failure and, if known, its remedy, without the name of a
/// function, library, source file or error category. "address already in use", "too many open
/// files; raise the limit (ulimit -n)"
K8S_SD_EXPORT std::string in_words(const boost::system::error_code&);
/// The same for an exception: of Asio, OpenSSL or std::filesystem, std::bad_alloc, or any other
/// with a text of its own.
K8S_SD_EXPORT std::string in_words(const std::exception&);

}  // namespace k8s_sd::inline v0

template <>
struct boost::system::is_error_code_enum<k8s_sd::errc> : std::true_type {};
