#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// A request as received by the simulated server.
struct K8S_SD_EXPORT Request {
    std::string method;                        ///< "GET"
    std::string target;                        ///< as sent: "/api/v1/pods?limit=500"
    std::string path;                          ///< percent-decoded, without the query
    std::map<std::string, std::string> query;  ///< decoded; the first value of repeated names
    std::vector<std::pair<std::string, std::string>> headers;  ///< in their order

    std::string body = {};  ///< at most 1 MiB; empty in records

    /// The first header of this name, ignoring case; nullopt if there is none.
    std::optional<std::string_view> header(std::string_view name) const;
    /// A query parameter; "" without one.
    std::string_view param(std::string_view name) const;
    /// A boolean parameter, as Go parses it: present without a value means true.
    bool flag(std::string_view name) const;
    bool is_watch() const { return flag("watch"); }  ///< whether it asks for a watch
};

/// A request and its outcome; see ApiServer::requests().
struct RequestRecord {
    Request request;      ///< as received
    unsigned status = 0;  ///< HTTP status; 0: no response (hung or dropped)
};

/// A response prescribed by a test instead of the normal one.
struct K8S_SD_EXPORT Response {
    /// How the end of the body is marked.
    enum class Framing {
        content_length,  ///< the default of the server
        chunked,
        until_close,  ///< neither length nor chunks: the end of the connection ends the body
    };
    /// For an uncut body.
    static constexpr std::size_t all = static_cast<std::size_t>(-1);

    unsigned status = 200;                                     ///< HTTP status
    std::string body;                                          ///< sent unchanged
    std::string content_type = "application/json";             ///< value of the Content-Type header
    std::vector<std::pair<std::string, std::string>> headers;  ///< besides type and framing
    Framing framing = Framing::content_length;                 ///< see above
    std::size_t cut_after = all;  ///< closes the connection after this number of bytes of the body
    bool hang = false;            ///< reads the request and never responds
    bool drop = false;            ///< closes the connection without a response

    /// A Status object with this code, reason ("Expired") and message, as from the API server.
    static Response failure(unsigned code, std::string_view reason, std::string_view message);
    static Response never();       ///< hang
    static Response disconnect();  ///< drop
};

}  // namespace k8s_sd::inline v0::sim
