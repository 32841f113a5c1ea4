#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/net/credentials.hpp"
#include "k8s_sd/detail/net/http_connection.hpp"
#include "k8s_sd/metrics.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

class ApiClient::Impl {
 public:
    Impl(asio::any_io_executor executor, const ApiServerConfig& server, Environment environment);

    struct Request {
        detail::HttpRequest http;
        std::size_t credentials = 0;  ///< tells the credentials apart, without holding them
    };
    /// \param path     with query, without the server's prefix
    /// \param problem  why there are no credentials, or why only old ones
    Request make_request(std::string_view path, error_code& ec, std::string& problem);
    /// After a 401 answer to a request with the credentials `sent`. True if there are others now:
    /// watchers share the credentials, and another one may have refreshed them.
    bool refresh_credentials(std::size_t sent);
    std::unique_ptr<detail::HttpConnection> make_connection() const;
    /// The URL of a path, for messages.
    std::string url_of(std::string_view path) const { return base_ + std::string(path); }

    asio::any_io_executor executor;
    Environment environment;
    ConnectTarget target;
    std::uint64_t next_seed();

 private:
    detail::ServerUrl url_;
    std::string base_;
    std::string header_;  ///< the part that is the same in every request
    detail::Credentials credentials_;
    std::uint64_t seeds_ = 0;
};

}  // namespace k8s_sd::inline v0
