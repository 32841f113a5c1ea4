#include "follow/list_source.hpp"

#include "cli/command_line.hpp"
#include "cli/option_values.hpp"
#include "http/http_message.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

namespace {

using cli::UsageError;

/// "pods", for "/sd/pods/targets?shard=1" and for "/sd/pods".
std::string name_in(std::string_view target) {
    std::string_view path = target.substr(0, target.find('?'));
    constexpr std::string_view relabelled = "/targets";
    if (path.ends_with(relabelled)) path.remove_suffix(relabelled.size());
    const auto name = http::percent_decoded(path.substr(path.rfind('/') + 1));
    return name.value_or("");
}

/// Whether the text is valid in the head of a request.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

void read_authority(ListSource& source, std::string_view authority) {
    std::size_t end = authority.find(':');
    if (authority.starts_with('[')) end = std::min(authority.find(']'), authority.size()) + 1;
    source.host = authority.substr(0, end);
    if (source.host.starts_with('[')) source.host = source.host.substr(1, source.host.size() - 2);
    source.port = source.tls ? "443" : "80";
    if (end < authority.size()) {
        source.port = std::to_string(cli::number<unsigned>(std::string(authority.substr(end + 1)),
                                                           1, 65'535, "a port from 1 to 65535"));
    }
    const bool strange =
        authority.find('@') != std::string_view::npos || end == authority.size() + 1;
    if (source.host.empty() || strange || (end < authority.size() && authority[end] != ':')) {
        throw UsageError(source.url + ": must be http:// or https://, a host, and a path; "
                                      "credentials are not given in it");
    }
}

}  // namespace

ListSource read_list_source(const std::string& text) {
    ListSource source;
    const std::size_t scheme = std::min(text.find("://"), text.size());
    const std::size_t equals = text.find('=');
    const bool named = equals < scheme;
    source.url = named ? text.substr(equals + 1) : text;
    std::string_view rest = source.url;
    source.tls = rest.starts_with("https://");
    if (!is_plain(rest) || (!source.tls && !rest.starts_with("http://"))) {
        throw UsageError("\"" + source.url +
                         "\" is no URL; it must begin with http:// or https://");
    }
    rest.remove_prefix(source.tls ? 8 : 7);
    rest = rest.substr(0, rest.find('#'));
    const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
    read_authority(source, rest.substr(0, path));
    source.target = rest.substr(path);
    if (!source.target.starts_with('/')) source.target.insert(0, "/");
    source.name = named ? text.substr(0, equals) : name_in(source.target);
    if (source.name.empty()) {
        throw UsageError(source.url + ": says no name for the file; give NAME=URL");
    }
    return source;
}

}  // namespace k8s_sd_program
