#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/net/api_documents.hpp"
#include "k8s_sd/detail/net/json_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>

namespace k8s_sd::inline v0::detail {

namespace {

// No server has so many, or such long ones.
constexpr std::size_t most_versions = 100;
constexpr std::size_t longest_version_name = 63;

std::optional<boost::json::object> read_json_object(std::string_view text) {
    boost::system::error_code ec;
    boost::json::value document = boost::json::parse({text.data(), text.size()}, ec);
    if (ec || !document.is_object()) return std::nullopt;
    return std::move(document.get_object());
}

}  // namespace

std::optional<std::vector<std::string>> read_group_versions(std::string_view json) {
    const auto group = read_json_object(json);
    if (!group || json_text(*group, "kind") != "APIGroup") return std::nullopt;
    const boost::json::value* listed = group->if_contains("versions");
    if (!listed || !listed->is_array()) return std::nullopt;
    std::vector<std::string> versions;
    for (const boost::json::value& item : listed->get_array()) {
        if (versions.size() == most_versions) break;
        if (!item.is_object()) continue;
        std::string version(json_text(item.get_object(), "version"));
        if (!version.empty() && version.size() <= longest_version_name)
            versions.push_back(std::move(version));
    }
    return versions;
}

std::string read_server_version(std::string_view json) {
    const auto document = read_json_object(json);
    if (!document) return {};
    const std::string_view version = json_text(*document, "gitVersion");
    return version.size() <= longest_version_name ? printable(version) : std::string();
}

}  // namespace k8s_sd::inline v0::detail
