#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <cstddef>
#include <set>

namespace k8s_sd::inline v0::detail {

namespace {

// Longer than any real version name.
constexpr std::size_t max_version_name_size = 63;

using Objects = std::vector<boost::json::object>;

std::optional<boost::json::object> read_json_object(std::string_view text) {
    boost::system::error_code ec;
    boost::json::value document =
        boost::json::parse(without_lone_surrogates(without_byte_order_mark(text)), ec);
    if (ec || !document.is_object()) return std::nullopt;
    return std::move(document.get_object());
}

/// The objects in an array member; nullopt: no such array.
std::optional<Objects> objects_in(const boost::json::object& document, std::string_view name) {
    const boost::json::value* value = document.if_contains({name.data(), name.size()});
    if (!value || !value->is_array()) return std::nullopt;
    Objects objects;
    for (const boost::json::value& item : value->get_array()) {
        if (item.is_object()) objects.push_back(item.get_object());
    }
    return objects;
}

std::optional<Objects> read_resource_list(std::string_view json) {
    const auto list = read_json_object(json);
    if (!list || json_text(*list, "kind") != "APIResourceList") return std::nullopt;
    return objects_in(*list, "resources");
}

bool has_verb(const boost::json::object& resource, std::string_view verb) {
    const boost::json::value* verbs = resource.if_contains("verbs");
    if (!verbs || !verbs->is_array()) return false;
    const boost::json::array& all = verbs->get_array();
    return std::any_of(all.begin(), all.end(), [&](const boost::json::value& v) {
        return v.is_string() && v.get_string() == verb;
    });
}

bool is_true(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = object.if_contains(name);
    return value && value->is_bool() && value->get_bool();
}

}  // namespace

std::optional<bool> lists_resource(std::string_view json, std::string_view plural) {
    const auto resources = read_resource_list(json);
    if (!resources) return std::nullopt;
    return std::any_of(resources->begin(), resources->end(),
                       [&](const auto& resource) { return json_text(resource, "name") == plural; });
}

std::optional<ListedResource> find_listed_resource(std::string_view json, std::string_view kind,
                                                   std::string_view plural) {
    const auto resources = read_resource_list(json);
    if (!resources) return std::nullopt;
    for (const boost::json::object& resource : *resources) {
        const std::string_view name = json_text(resource, "name");
        // "widgets/status" is a subresource.
        if (json_text(resource, "kind") != kind || !is_dns_subdomain(name)) continue;
        if (!plural.empty() && name != plural) continue;
        return ListedResource{std::string(name), is_true(resource, "namespaced"),
                              has_verb(resource, "list") && has_verb(resource, "watch")};
    }
    return std::nullopt;
}

bool is_document_of(std::string_view json, std::string_view kind) {
    const auto document = read_json_object(json);
    return document && json_text(*document, "kind") == kind;
}

std::vector<std::string> read_group_versions(std::string_view json) {
    const auto group = read_json_object(json);
    std::vector<std::string> versions;
    if (!group || json_text(*group, "kind") != "APIGroup") return versions;
    std::set<std::string_view> known;  // a hostile document has thousands
    const auto add = [&](std::string_view version) {
        if (is_dns_label(version) && known.insert(version).second) versions.emplace_back(version);
    };
    const boost::json::value* preferred = group->if_contains("preferredVersion");
    if (preferred && preferred->is_object()) add(json_text(preferred->get_object(), "version"));
    for (const auto& version : objects_in(*group, "versions").value_or(Objects()))
        add(json_text(version, "version"));
    return versions;
}

std::string read_status_message(std::string_view json) {
    const auto status = read_json_object(json);
    const std::string_view kind = status ? json_text(*status, "kind") : std::string_view();
    if (kind.empty()) return printable(read_foreign_error(json));
    return kind == "Status" ? printable(json_text(*status, "message")) : std::string();
}

std::string read_server_version(std::string_view json) {
    const auto document = read_json_object(json);
    if (!document) return {};
    const std::string_view version = json_text(*document, "gitVersion");
    return version.size() <= max_version_name_size ? printable(version) : std::string();
}

}  // namespace k8s_sd::inline v0::detail
