#include "api/remedy.hpp"

#include <boost/asio/ssl/error.hpp>

namespace k8s_sd_program {

namespace {

using k8s_sd::errc;

/// Errors with advice in the library's message.
bool has_advice(const k8s_sd::error_code& error) {
    return error == errc::bad_request || error == errc::unauthorized || error == errc::forbidden ||
           error == errc::not_found || error == errc::unexpected_status ||
           error.category() == boost::asio::error::get_ssl_category();
}

std::string_view remedy_of(errc error) {
    switch (error) {
        case errc::invalid_config: return "correct the configuration of the job and reload it";
        case errc::credentials_unavailable:
            return "check that k8s-sd can read the file, or run the program, named in the message";
        case errc::bad_request: return "check the selectors and namespaces of the job";
        case errc::unauthorized: return "check the credentials";
        case errc::forbidden:
            return "grant the permissions that docs/programs/k8s-sd/deployment.md lists";
        case errc::not_found:
        case errc::unexpected_status:
        case errc::unexpected_content_type:
        case errc::malformed_response:
        case errc::missing_resource_version:
        case errc::bad_object:
        case errc::unexpected_encoding:
        case errc::endless_list:
            return "check the URL, and that no proxy on the way responds in place of the server";
        case errc::expired:
        case errc::version_too_large:
            return "wait for the next list; if this persists, check the API server's log";
        case errc::too_many_requests:
        case errc::server_error:
            return "check the server's log: it fails or is overloaded; requests are tried again";
        case errc::object_too_large:
        case errc::header_too_large:
        case errc::too_many_objects:
        case errc::target_list_too_large:
        case errc::too_many_targets:
            return "reduce the job: fewer namespaces, narrower selectors, a shorter list";
        case errc::truncated_response:
        case errc::response_timeout:
        case errc::idle_timeout:
        case errc::short_watches:
        case errc::ping_timeout:
            return "check proxies and load balancers on the way, and their timeouts";
        case errc::proxy_failed: return "check the URL and the access rules of the proxy";
        case errc::target_file_failed: return "correct the file named in the message";
        default:
            return "check that the server runs, that its URL is correct, and that firewalls and "
                   "network policies let k8s-sd reach it";
    }
}

}  // namespace

std::string remedy_for(const k8s_sd::error_code& error, std::string_view message) {
    if (!error) return {};
    if (has_advice(error)) {
        const std::size_t end = message.rfind("; ");
        if (end != message.npos) return std::string(message.substr(end + 2));
    }
    const bool ours = error.category() == k8s_sd::category();
    return std::string(remedy_of(ours ? static_cast<errc>(error.value()) : errc::connect_timeout));
}

}  // namespace k8s_sd_program
