#pragma once

#include "http/http_routes.hpp"
#include "http/http_server.hpp"

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program::test {

/// A request.
struct Ask {
    std::string url{};  ///< path and query
    std::vector<std::pair<std::string, std::string>> headers{};
    std::uint64_t connection = 0;
    std::string method = "GET";
};

/// A server's response.
struct Answered {
    unsigned status = 0;
    std::string body{};
    std::string tag{};  ///< ETag
    std::shared_ptr<http::HttpServer::Stream> stream{};
};

/// Requests routes without a network. \param on_answer  is called once, now or later
inline void ask(const http::HttpRoutes& routes, const Ask& what,
                std::function<void(const Answered&)> on_answer) {
    using http::HttpServer;
    const std::string_view url = what.url;
    const auto end = url.find('?');
    const bool has_query = end != std::string_view::npos;
    boost::beast::http::fields headers;
    for (const auto& [name, value] : what.headers) headers.insert(name, value);
    const HttpServer::Client client{.address = "127.0.0.1", .connection = what.connection};
    const HttpServer::Request request{what.method,
                                      url.substr(0, end),
                                      has_query ? url.substr(end + 1) : std::string_view(),
                                      {},
                                      client,
                                      headers};
    routes(request, [on_answer = std::move(on_answer)](const HttpServer::Reply& reply) {
        Answered answer{.status = reply.status, .stream = reply.stream};
        if (reply.body) answer.body = *reply.body;
        for (const auto& [name, value] : reply.headers) {
            if (name == boost::beast::http::field::etag) answer.tag = value;
        }
        on_answer(answer);
    });
}

}  // namespace k8s_sd_program::test
