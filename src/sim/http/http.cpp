#include "sim/http/http.hpp"

#include "k8s_sd/detail/text/text.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

namespace k8s_sd::inline v0::sim {
namespace http = boost::beast::http;
namespace {

/// Chunk size of a chunked body.
constexpr std::size_t chunk_size = 64 * 1024;
constexpr std::size_t max_request_body = 1024 * 1024;
constexpr std::uint32_t max_request_header = 1024 * 1024;

std::string percent_decode(std::string_view text, bool plus_is_space) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && i + 2 < text.size();
        const unsigned high = escape ? detail::hex_value(text[i + 1]) : 16;
        const unsigned low = escape ? detail::hex_value(text[i + 2]) : 16;
        if (text[i] == '+' && plus_is_space) {
            result += ' ';
        } else if (high < 16 && low < 16) {
            result += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

void split_target(Request& request) {
    const std::string_view target = request.target;
    const std::size_t mark = target.find('?');
    request.path = percent_decode(target.substr(0, mark), false);
    if (mark == std::string_view::npos) return;
    std::string_view rest = target.substr(mark + 1);
    while (!rest.empty()) {
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const std::size_t equal = pair.find('=');
        const std::string_view value =
            equal == std::string_view::npos ? std::string_view() : pair.substr(equal + 1);
        request.query.emplace(percent_decode(pair.substr(0, equal), true),
                              percent_decode(value, true));
    }
}

/// Whether a proxy could interpret the request differently, because its head is ambiguous about its
/// end or its host (RFC 9112, 3.2, 5.2, 6.1, 6.3).
/// \param bytes  begins with the head: the parser folds lines silently
bool is_ambiguous(std::string_view bytes, const http::request<http::string_body>& request) {
    const std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n"));
    if (head.find("\r\n ") != head.npos || head.find("\r\n\t") != head.npos) return true;
    const bool is_old = request.version() < 11;
    const auto coding = request[http::field::transfer_encoding];
    const auto codings = request.count(http::field::transfer_encoding);
    if (codings > 0 && (is_old || codings > 1 || !boost::beast::iequals(coding, "chunked"))) {
        return true;
    }
    const auto length = request[http::field::content_length];
    if (request.count(http::field::content_length) > 1 ||
        length.find_first_not_of("0123456789") != length.npos) {
        return true;
    }
    const auto hosts = request.count(http::field::host);
    return hosts > 1 || (hosts == 0 && !is_old);
}

void append_body(std::string& out, const Response& response) {
    const bool cut = response.cut_after < response.body.size();
    std::string_view rest = response.body;
    if (cut) rest = rest.substr(0, response.cut_after);
    if (response.framing != Response::Framing::chunked) {
        out += rest;
        return;
    }
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, chunk_size);
        out += chunk(part);
        rest.remove_prefix(part.size());
    }
    if (!cut) out += last_chunk;
}

}  // namespace

RequestReader::Result RequestReader::next(Request& request, bool& close) {
    http::request_parser<http::string_body> parser;
    parser.eager(true);
    parser.header_limit(max_request_header);
    parser.body_limit(max_request_body);
    boost::system::error_code ec;
    const std::size_t used = parser.put(boost::asio::buffer(bytes_), ec);
    if (parser.is_header_done() && is_ambiguous(bytes_, parser.get())) return Result::malformed;
    if (ec == http::error::need_more || (!ec && !parser.is_done())) return Result::incomplete;
    if (ec) return Result::malformed;
    bytes_.erase(0, used);
    const auto& message = parser.get();
    close = !message.keep_alive();
    request.method = message.method_string();
    request.target = message.target();
    for (const auto& field : message) {
        request.headers.emplace_back(field.name_string(), field.value());
    }
    request.body = std::move(parser.get().body());
    split_target(request);
    return Result::complete;
}

std::string chunk(std::string_view bytes) {
    std::array<char, 20> size{};
    const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    std::string result;
    result.reserve(bytes.size() + static_cast<std::size_t>(length) + 2);
    result.append(size.data(), static_cast<std::size_t>(length));
    result += bytes;
    return result += "\r\n";
}

std::string serialize(const Response& response, bool close) {
    std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
    out += std::string_view(http::obsolete_reason(static_cast<http::status>(response.status)));
    out += "\r\nContent-Type: " + response.content_type + "\r\n";
    for (const auto& [name, value] : response.headers) out += name + ": " + value + "\r\n";
    if (response.framing == Response::Framing::chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else if (response.framing == Response::Framing::content_length) {
        out += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
    }
    if (close) out += "Connection: close\r\n";
    out += "\r\n";
    append_body(out, response);
    return out;
}

std::string watch_header(std::string_view content_type, bool gzip) {
    const std::string_view coding =
        gzip ? "\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding" : "";
    return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(content_type) + std::string(coding) +
           "\r\nCache-Control: no-cache, private\r\nTransfer-Encoding: chunked\r\n\r\n";
}

}  // namespace k8s_sd::inline v0::sim
