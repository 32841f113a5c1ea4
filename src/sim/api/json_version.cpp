#include "sim/api/json_version.hpp"

namespace k8s_sd::inline v0::sim {

std::string in_version(std::string json, const ResourceType& type, std::string_view version) {
    if (type.is_own(version)) return json;
    const auto replace = [&json](std::string_view from, const std::string& to) {
        for (std::size_t at = 0; (at = json.find(from, at)) != json.npos; at += to.size())
            json.replace(at, from.size(), to);
    };
    const std::string api = "\"apiVersion\":\"" + std::string(type.group) + "/";
    replace(api + std::string(type.version) + "\"", api + std::string(version) + "\"");
    replace("\"deprecatedTopology\":", "\"topology\":");
    return json;
}

}  // namespace k8s_sd::inline v0::sim
