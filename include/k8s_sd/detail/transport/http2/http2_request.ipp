#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/http2/http2_request.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 6> connection_fields = {
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te"};
/// Equal in all requests, and no secrets.
constexpr std::array<std::string_view, 5> public_fields = {
    "accept", "accept-encoding", "content-length", "content-type", "user-agent"};

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Takes the text before the separator, and the separator.
std::string_view take_until(std::string_view& text, std::string_view separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view result = text.substr(0, end);
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    return result;
}

}  // namespace

Http2Request translate_request(std::string_view text) {
    Http2Request request;
    std::string_view first = take_until(text, "\r\n");
    const std::string_view method = take_until(first, " ");
    const std::string_view path = take_until(first, " ");
    request.fields = {{":method", method, true},
                      {":scheme", "https", true},
                      {":authority", {}, true},
                      {":path", path, false}};
    while (true) {
        std::string_view value = take_until(text, "\r\n");
        if (value.empty()) break;
        const std::string_view written = take_until(value, ":");
        value = trim(value);
        const std::string name = lower_case(written);
        if (name == "host") {
            request.fields[2].value = value;
        } else if (!is_among(connection_fields, name)) {
            request.fields.push_back({written, value, is_among(public_fields, name)});
        }
    }
    request.body = text;
    return request;
}

}  // namespace k8s_sd::inline v0::detail
