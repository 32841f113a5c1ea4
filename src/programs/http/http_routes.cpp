#include "http/http_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace http {

namespace {

using Segments = std::vector<std::string_view>;

Segments segments_of(std::string_view path) {
    Segments segments;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        segments.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return segments;
}

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

bool matches(const Segments& pattern, const Segments& path) {
    return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                      [](auto wanted, auto segment) {
                          return is_name(wanted) ? !segment.empty() : wanted == segment;
                      });
}

/// nullopt if a name cannot be decoded.
std::optional<std::vector<std::string>> names_in(const Segments& pattern, const Segments& path) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (!is_name(pattern[i])) continue;
        auto name = percent_decoded(path[i], pattern[i].starts_with("{+"));
        if (!name) return std::nullopt;
        names.push_back(std::move(*name));
    }
    return names;
}

HttpServer::Reply not_allowed(const std::string& allowed) {
    HttpServer::Reply reply = text_reply(405, "only " + allowed + " is allowed here\n");
    reply.headers.emplace_back(boost::beast::http::field::allow, allowed);
    return reply;
}

}  // namespace

void HttpRoutes::on(std::string method, std::string path, Handler handler) {
    routes_.push_back({std::move(method), std::move(path), std::move(handler)});
}

void HttpRoutes::get(std::string path, Answer answer) {
    on("GET", std::move(path),
       [answer = std::move(answer)](const Asked& asked, const auto& respond) {
           respond(answer(asked));
       });
}

void HttpRoutes::operator()(const HttpServer::Request& request,
                            const HttpServer::Respond& respond) const {
    std::string allowed;
    const Route* route = find(request, allowed);
    if (!route) return respond(allowed.empty() ? not_found() : not_allowed(allowed));
    auto names = names_in(segments_of(route->path), segments_of(request.path));
    auto query = parse_query(request.query);
    if (!names || !query) {
        return respond(text_reply(400, "in the URL a % must begin a byte in two hexadecimal "
                                       "digits; % itself is %25\n"));
    }
    route->handler({request, std::move(*names), std::move(*query)}, respond);
}

/// \param allowed  without a route for the method: the allowed methods of the path
const HttpRoutes::Route* HttpRoutes::find(const HttpServer::Request& request,
                                          std::string& allowed) const {
    const Segments path = segments_of(request.path);
    for (const Route& route : routes_) {
        if (!matches(segments_of(route.path), path)) continue;
        if (route.method == request.method) return &route;
        allowed += (allowed.empty() ? "" : ", ") + route.method;
        if (route.method == "GET") allowed += ", HEAD";
    }
    return nullptr;
}

HttpServer::Reply HttpRoutes::not_found() const {
    std::string text = "there is no such path; there are\n";
    for (const Route& route : routes_) text += "  " + route.method + " " + route.path + "\n";
    return text_reply(404, std::move(text));
}

}  // namespace http
