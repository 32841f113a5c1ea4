#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/net/api_documents.hpp"
#include "k8s_sd/detail/net/json_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <cstddef>

namespace k8s_sd::inline v0::detail {

namespace {

// No server has a longer one.
constexpr std::size_t longest_version_name = 63;

std::optional<boost::json::object> read_json_object(std::string_view text) {
    boost::system::error_code ec;
    boost::json::value document = boost::json::parse({text.data(), text.size()}, ec);
    if (ec || !document.is_object()) return std::nullopt;
    return std::move(document.get_object());
}

}  // namespace

std::optional<bool> lists_resource(std::string_view json, std::string_view plural) {
    const auto list = read_json_object(json);
    if (!list || json_text(*list, "kind") != "APIResourceList") return std::nullopt;
    const boost::json::value* listed = list->if_contains("resources");
    if (!listed || !listed->is_array()) return std::nullopt;
    const boost::json::array& resources = listed->get_array();
    return std::any_of(resources.begin(), resources.end(), [&](const boost::json::value& item) {
        return item.is_object() && json_text(item.get_object(), "name") == plural;
    });
}

std::string read_server_version(std::string_view json) {
    const auto document = read_json_object(json);
    if (!document) return {};
    const std::string_view version = json_text(*document, "gitVersion");
    return version.size() <= longest_version_name ? printable(version) : std::string();
}

}  // namespace k8s_sd::inline v0::detail
