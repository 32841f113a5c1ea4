#include "k8s_sd/error.hpp"

namespace k8s_sd::inline v0 {

namespace {

const char* message_of(errc value) noexcept {
    switch (value) {
        case errc::invalid_config: return "the configuration contradicts itself";
        case errc::credentials_unavailable:
            return "a token, password, certificate or key cannot be read";
        case errc::bad_request: return "the server rejects a parameter of the request (400, 422)";
        case errc::unauthorized: return "the server does not accept the credentials (401)";
        case errc::forbidden: return "the credentials lack a permission (403)";
        case errc::not_found: return "the server does not have this API or path (404)";
        case errc::expired: return "the resource version is too old (410)";
        case errc::version_too_large: return "the server has not reached this resource version yet";
        case errc::too_many_requests: return "the server limits the number of requests (429)";
        case errc::server_error: return "the server failed (5xx)";
        case errc::unexpected_status: return "the server answered with an unexpected HTTP status";
        case errc::unexpected_content_type:
            return "the body of the answer is not in a requested content type";
        case errc::malformed_response:
            return "the answer cannot be decoded, or is not a list or event";
        case errc::truncated_response: return "the connection ended in the middle of a list";
        case errc::missing_resource_version: return "the list has no resource version";
        case errc::bad_object: return "an object has the wrong shape";
        case errc::object_too_large:
            return "an object is larger than max_object_bytes, or its labels than 64 MiB";
        case errc::header_too_large: return "the header of the answer is larger than 64 KiB";
        case errc::connect_timeout: return "no connection within connect_timeout";
        case errc::response_timeout: return "no progress of the answer within response_timeout";
        case errc::idle_timeout: return "the watch was silent for too long";
        case errc::not_referenced: return "the object has no reference; add one before reading it";
        case errc::object_not_found: return "there is no object of this name";
        case errc::not_synced: return "the object was not read within get_timeout";
        case errc::unexpected_encoding:
            return "the body of the answer is compressed, although not requested";
        case errc::endless_list: return "the pages of the list repeat, or do not end";
        case errc::too_many_objects: return "there are more objects than max_objects";
        case errc::short_watches: return "watches end at once without an event";
        case errc::too_many_watches:
            return "the limit of open watches of this server is reached; polling instead";
        case errc::connector_failed: return "a connection cannot be made";
        case errc::proxy_failed: return "the proxy does not connect to the server";
        case errc::source_failed: return "a source of targets has failed";
        case errc::target_file_failed: return "a file of targets cannot be read or understood";
        case errc::target_list_too_large: return "a list of targets is larger than its limit";
        case errc::too_many_targets:
            return "an object has more targets than max_targets_per_object";
        case errc::ping_timeout: return "the connection is dead: no answer to a PING";
    }
    return "unknown error of k8s_sd";
}

#ifdef __GNUC__
#pragma GCC diagnostic push
// Boost keeps the destructor of its categories public and trivial, on purpose.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif
class Category final : public boost::system::error_category {
 public:
    // The fixed id keeps codes equal when a program holds the library twice.
    constexpr Category() noexcept : error_category(0x6b38735f73643031ULL) {}

    const char* name() const noexcept override { return "k8s_sd"; }
    std::string message(int value) const override { return message_of(static_cast<errc>(value)); }
};
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

}  // namespace

const boost::system::error_category& category() noexcept {
    static constexpr Category instance;
    return instance;
}

error_code make_error_code(errc value) noexcept { return {static_cast<int>(value), category()}; }

}  // namespace k8s_sd::inline v0
