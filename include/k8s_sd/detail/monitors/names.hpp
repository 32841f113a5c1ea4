#pragma once

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/monitors/monitor.hpp"

#include <string>
#include <string_view>

/// Names in generated jobs.
namespace k8s_sd::inline v0::detail {

/// The key of a Kubernetes label as part of a label name: each byte other than a letter, digit or
/// `_` becomes `_`.
inline std::string sanitize_label_key(std::string_view key) {
    std::string name(key);
    for (char& c : name) {
        if (!is_word(c)) c = '_';
    }
    return name;
}

/// "serviceMonitor/ns/name": the name of a job, without the number of the endpoint.
inline std::string job_origin(MonitorKind kind, std::string_view object_namespace,
                              std::string_view name) {
    std::string origin(job_prefix_of(kind));
    return origin.append(object_namespace).append("/").append(name);
}

/// "allow-utf-8" for `AllowUTF8`; other values in lower case.
inline std::string name_escaping_scheme(std::string_view scheme) {
    return scheme == "AllowUTF8" ? "allow-utf-8" : lower_case(scheme);
}

}  // namespace k8s_sd::inline v0::detail
