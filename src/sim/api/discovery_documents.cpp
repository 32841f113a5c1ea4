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

using Types = std::vector<const ResourceType*>;

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

/// "apps/v1"; "v1" for the core group.
std::string group_version(std::string_view group, std::string_view version) {
    return (group.empty() ? "" : std::string(group) + "/") + std::string(version);
}

/// An empty object if the server has no resource of the group.
json::object group(std::string_view name, const Types& types, const ServedIn& served_in) {
    std::vector<std::string> versions;
    for (const ResourceType* type : types) {
        if (type->group != name) continue;
        for (const std::string& version : served_in(*type)) {
            if (std::find(versions.begin(), versions.end(), version) == versions.end())
                versions.push_back(version);
        }
    }
    if (versions.empty()) return {};
    std::sort(versions.begin(), versions.end());  // v1 before v1beta1
    json::array entries;
    for (const std::string& version : versions) {
        entries.push_back(
            json::object{{"groupVersion", group_version(name, version)}, {"version", version}});
    }
    const json::value preferred = entries.front();
    return {{"name", name}, {"versions", std::move(entries)}, {"preferredVersion", preferred}};
}

json::object group_document(std::string_view name, const Types& types, const ServedIn& served_in) {
    json::object document = group(name, types, served_in);
    if (document.empty()) return {};
    document["kind"] = "APIGroup";
    document["apiVersion"] = "v1";
    return document;
}

json::object group_list(const Types& types, const ServedIn& served_in) {
    std::vector<std::string_view> seen{""};
    json::array groups;
    for (const ResourceType* type : types) {
        if (std::find(seen.begin(), seen.end(), type->group) != seen.end()) continue;
        seen.push_back(type->group);
        json::object entry = group(type->group, types, served_in);
        if (!entry.empty()) groups.push_back(std::move(entry));
    }
    return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json::array verbs_of(const ResourceType& type) {
    if (type.writable) return {"create", "delete", "get", "list", "update", "watch"};
    return {"get", "list", "watch"};
}

json::object resource_list(std::string_view name, const Types& types, const ServedIn& served_in) {
    json::array resources;
    for (const ResourceType* listed : types) {
        const ResourceType& type = *listed;
        const std::vector<std::string> versions = served_in(type);
        const bool served = std::any_of(versions.begin(), versions.end(), [&](const auto& version) {
            return group_version(type.group, version) == name;
        });
        if (!served) continue;
        json::object entry{{"name", type.plural},
                           {"singularName", type.singular},
                           {"namespaced", type.namespaced},
                           {"kind", type.kind},
                           {"verbs", verbs_of(type)}};
        if (!type.short_name.empty()) entry["shortNames"] = json::array{type.short_name};
        resources.push_back(std::move(entry));
    }
    if (resources.empty()) return {};
    return {{"kind", "APIResourceList"},
            {"apiVersion", "v1"},
            {"groupVersion", name},
            {"resources", std::move(resources)}};
}

json::object document(std::string_view path, const Types& types, const ServedIn& served_in) {
    if (path == "/version") return version();
    if (path == "/api") return core_versions();
    if (path == "/apis") return group_list(types, served_in);
    if (path == "/api/v1") return resource_list("v1", types, served_in);
    if (!path.starts_with("/apis/")) return {};
    const std::string_view name = path.substr(6);
    return name.find('/') == name.npos ? group_document(name, types, served_in)
                                       : resource_list(name, types, served_in);
}

}  // namespace

std::optional<std::string> discovery_document(std::string_view path, const Types& types,
                                              const ServedIn& served_in) {
    const json::object result = document(path, types, served_in);
    if (result.empty()) return std::nullopt;
    return json::serialize(result) + "\n";
}

}  // namespace k8s_sd::inline v0::sim
