#include "k8s_sd/detail/client/status_error.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/text/access_text.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/watch/failure.hpp"

#include <array>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

bool says(const ServerStatus& status, std::string_view words) {
    return status.message.find(words) != std::string::npos;
}

std::string missing_permission(const Wanted& wanted) {
    const Resource& resource = resource_of(wanted.kind);
    const bool one_namespace = resource.namespaced && !wanted.ns.empty();
    const std::string role = one_namespace ? "Role in the namespace " + wanted.ns : "ClusterRole";
    return std::string("missing is the permission to ") + (wanted.watch ? "watch " : "list ") +
           access_text(resource, wanted.ns) + "; grant it with a rule of a " + role + ": " +
           rule_line(resource.group, std::array{resource.plural});
}

std::string missing_api(Kind kind) {
    const KindSchema& schema = schema_of(kind);
    if (!schema.custom)
        return "the server has no such API, or the path in the server's URL is wrong";
    std::string versions(resource_of(kind).version);
    for (const std::string_view older : schema.older_versions) {
        const bool last = older == schema.older_versions.back();
        (versions += last ? " or " : ", ") += older;
    }
    return "the server has no " + access_text(resource_of(kind)) + " in version " + versions +
           ": install the definitions (CRDs) of Gateway API there, or do without its roles";
}

bool is_redirect(const ServerStatus& status) { return status.code >= 300 && status.code < 400; }

/// An API server sets a reason, except for an unknown path, and does not redirect.
bool is_foreign(const ServerStatus& status) {
    if (is_redirect(status)) return true;
    const bool has_reason = status.code == 400 || status.code == 403 || status.code == 422;
    return has_reason && status.reason.empty();
}

// How to fix the error; empty if unknown.
std::string advice(const ServerStatus& status, const Wanted& wanted) {
    const std::string resource(to_string(wanted.kind));
    switch (status.code) {
        case 400:
        case 422:
            // Other servers may not even speak the same protocol.
            return is_foreign(status)
                       ? "is this the URL of a Kubernetes API server, with the right scheme?"
                       : "check the selectors for " + resource;
        case 401:
            return "check the credentials: they may be missing or expired, or be of another "
                   "cluster";
        case 403:
            // Requests without valid credentials run as this user: the cause is authentication, not
            // RBAC.
            if (says(status, "system:anonymous")) {
                return "the API server recognised no credentials in the request: configure a token "
                       "or a client certificate (Kubernetes supports no user names with passwords "
                       "since 1.19)";
            }
            if (says(status, "cannot impersonate")) {
                return "these credentials may not impersonate: grant them the verb impersonate on "
                       "that "
                       "resource, or configure no impersonation";
            }
            return is_foreign(status)
                       ? "this is not the answer of a Kubernetes API server: a proxy on the way "
                         "refuses the request, or the URL is wrong"
                       : missing_permission(wanted);
        case 404: return missing_api(wanted.kind);
        default: break;
    }
    if (is_redirect(status))
        return "a redirect is not followed; is this the URL of a Kubernetes API server?";
    return {};
}

}  // namespace

Failure describe(const ServerStatus& status, const ResponseHead& head, const Wanted& wanted) {
    Failure failure{error_of_status(status.code), "HTTP " + std::to_string(status.code)};
    if (!status.message.empty()) failure.message += ": " + printable(status.message);
    if (status.code == 401 && !head.date.empty()) {
        failure.message += "; the server's clock says " + printable(head.date);
    }
    const std::string help = advice(status, wanted);
    if (!help.empty()) failure.message += "; " + help;
    failure.foreign_response = is_foreign(status);
    return failure;
}

Metrics::Counter& failure_counter(Metrics::PerKind& metrics, error_code ec) {
    if (ec == errc::expired) return metrics.expired;
    if (ec == errc::unauthorized) return metrics.unauthorized;
    if (ec == errc::forbidden) return metrics.forbidden;
    if (ec == errc::not_found) return metrics.not_found;
    if (ec == errc::too_many_requests) return metrics.too_many_requests;
    if (ec == errc::server_error) return metrics.server_errors;
    if (ec == errc::malformed_response || ec == errc::unexpected_content_type ||
        ec == errc::missing_resource_version || ec == errc::unexpected_encoding ||
        ec == errc::endless_list) {
        return metrics.malformed;
    }
    const bool ours = ec.category() == category();
    const bool timeout = ec == errc::connect_timeout || ec == errc::response_timeout ||
                         ec == errc::idle_timeout || ec == errc::truncated_response ||
                         ec == errc::short_watches || ec == errc::connector_failed ||
                         ec == errc::proxy_failed || ec == errc::ping_timeout;
    return !ours || timeout ? metrics.network_errors : metrics.other_errors;
}

}  // namespace k8s_sd::inline v0::detail
