#pragma once

#include "http/http_message.hpp"
#include "http/http_server.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// The handlers of a server by path. Other paths get 404, other methods 405, with a text.
class HttpRoutes {
 public:
    struct Asked {
        const HttpServer::Request& request;
        std::vector<std::string> names;  ///< the values of each `{…}` of the path, decoded
        Query query;
    };
    /// See HttpServer::Handler.
    using Handler = std::function<void(const Asked&, const HttpServer::Respond&)>;
    using Answer = std::function<HttpServer::Reply(const Asked&)>;

    /// \param path  such as "/sd/{job}/targets": a component in braces matches any non-empty text
    ///              without '/', encoded as %2F by clients; in "{+job}" a '+' stands for a blank
    void on(std::string method, std::string path, Handler);
    /// The same for synchronous answers.
    void get(std::string path, Answer);

    void operator()(const HttpServer::Request&, const HttpServer::Respond&) const;

 private:
    struct Route {
        std::string method;
        std::string path;
        Handler handler;
    };

    const Route* find(const HttpServer::Request&, std::string& allowed) const;
    HttpServer::Reply not_found() const;

    std::vector<Route> routes_;
};

}  // namespace http
