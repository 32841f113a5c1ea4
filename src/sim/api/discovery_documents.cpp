#include "sim/api/discovery_documents.hpp"

#include "sim/store/resource_type.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <vector>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

json::object version() {
    return {{"major", "1"},    {"minor", "32"},      {"gitVersion", "v1.32.0+k8s-sd-sim"},
            {"gitCommit", ""}, {"gitTreeState", ""}, {"buildDate", ""},
            {"goVersion", ""}, {"compiler", "gcc"},  {"platform", "linux/amd64"}};
}

json::object core_versions() {
    return {{"kind", "APIVersions"},
            {"versions", json::array{"v1"}},
            {"serverAddressByClientCIDRs", json::array()}};
}

json::object group_list() {
    std::vector<std::string_view> seen{""};
    json::array groups;
    for (const ResourceType& type : resource_types()) {
        if (std::find(seen.begin(), seen.end(), type.group) != seen.end()) continue;
        seen.push_back(type.group);
        const json::object version{{"groupVersion", type.api_version()}, {"version", type.version}};
        groups.push_back(json::object{{"name", type.group},
                                      {"versions", json::array{version}},
                                      {"preferredVersion", version}});
    }
    return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json::object resource_list(std::string_view group_version) {
    json::array resources;
    for (const ResourceType& type : resource_types()) {
        if (type.api_version() != group_version) continue;
        json::object entry{{"name", type.plural},
                           {"singularName", type.singular},
                           {"namespaced", type.namespaced},
                           {"kind", type.kind},
                           {"verbs", json::array{"get", "list", "watch"}}};
        if (!type.short_name.empty()) entry["shortNames"] = json::array{type.short_name};
        resources.push_back(std::move(entry));
    }
    if (resources.empty()) return {};
    return {{"kind", "APIResourceList"},
            {"apiVersion", "v1"},
            {"groupVersion", group_version},
            {"resources", std::move(resources)}};
}

json::object document(std::string_view path) {
    if (path == "/version") return version();
    if (path == "/api") return core_versions();
    if (path == "/apis") return group_list();
    if (path == "/api/v1") return resource_list("v1");
    if (path.starts_with("/apis/")) return resource_list(path.substr(6));
    return {};
}

}  // namespace

std::optional<std::string> discovery_document(std::string_view path) {
    const json::object result = document(path);
    if (result.empty()) return std::nullopt;
    return json::serialize(result) + "\n";
}

}  // namespace k8s_sd::inline v0::sim
