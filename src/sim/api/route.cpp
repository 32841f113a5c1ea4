#include "sim/api/route.hpp"

#include <algorithm>
#include <vector>

namespace k8s_sd::inline v0::sim {
namespace {

/// The components between slashes; empty if any component is empty.
std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view part = path.substr(0, path.find('/'));
        if (part.empty()) return {};
        parts.push_back(part);
        path.remove_prefix(part.size());
    }
    return parts;
}

}  // namespace

std::optional<Route> parse_route(std::string_view path, const ServerTypes& types) {
    if (!path.starts_with('/')) return std::nullopt;
    const std::vector<std::string_view> parts = split(path);
    const bool core = !parts.empty() && parts[0] == "api";
    const bool grouped = !parts.empty() && parts[0] == "apis";
    const std::size_t head = core ? 2 : 3;  // "api/v1" or "apis/<group>/<version>"
    if ((!core && !grouped) || parts.size() <= head) return std::nullopt;
    const std::string_view group = core ? std::string_view() : parts[1];

    Route route;
    route.version = parts[head - 1];
    std::size_t i = head;
    if (parts[i] == "namespaces" && parts.size() > i + 2) {
        route.ns = parts[i + 1];
        i += 2;
    }
    route.type = types.find_by_plural(group, parts[i]);
    if (!route.type || (!route.ns.empty() && !route.type->namespaced)) return std::nullopt;
    if (parts.size() > i + 1) route.name = parts[i + 1];
    const bool needs_namespace = !route.name.empty() && route.type->namespaced && route.ns.empty();
    if (parts.size() > i + 2 || needs_namespace) return std::nullopt;
    return route;
}

}  // namespace k8s_sd::inline v0::sim
