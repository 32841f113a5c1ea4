#include "k8s_sd/detail/client/header_lines.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/percent_encoding.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

/// Token characters that append_escaped() would escape, except the percent sign.
constexpr std::string_view header_token_marks = "!#$&'*+^`|";

void append_line(std::string& lines, const std::string& field, std::string_view name,
                 std::string_view value) {
    if (!is_header_name(name)) {
        throw ConfigError(field, "the name of a header must not be empty, and has no blanks, "
                                 "control characters or any of ()<>@,;:\\\"/[]?={}");
    }
    if (!is_header_text(value)) {
        throw ConfigError(field, "must not contain a line break or another control character");
    }
    (((lines += name) += ": ") += value) += "\r\n";
}

}  // namespace

std::string impersonation_lines(const ImpersonationConfig& config) {
    std::string lines;
    const std::string where = "api_server.impersonate.";
    if (!config.user.empty()) append_line(lines, where + "user", "Impersonate-User", config.user);
    if (!config.uid.empty()) append_line(lines, where + "uid", "Impersonate-Uid", config.uid);
    for (const std::string& group : config.groups) {
        append_line(lines, where + "groups", "Impersonate-Group", group);
    }
    for (const auto& [key, values] : config.extra) {
        std::string name = "Impersonate-Extra-";
        append_escaped(name, lower_case(key), header_token_marks);
        for (const std::string& value : values) append_line(lines, where + "extra", name, value);
    }
    return lines;
}

std::string header_lines(const std::vector<HttpHeader>& headers) {
    const bool files = std::any_of(headers.begin(), headers.end(),
                                   [](const HttpHeader& header) { return !header.file.empty(); });
    std::string lines;
    for (const HttpHeader& header : headers) {
        append_line(lines, "api_server.headers", header.name, header.value);
    }
    return files ? std::string() : lines;
}

}  // namespace k8s_sd::inline v0::detail
