#pragma once

#include "k8s_sd/detail/kinds/gateway.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/route.hpp"
#include "k8s_sd/detail/text/url_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Hostnames of Gateway API: a name, a wildcard such as "*.example.com" for all names below
/// example.com at any depth, or an empty text for every name.
namespace k8s_sd::inline v0::detail {

/// Whether a wildcard covers the name or the other wildcard.
constexpr bool wildcard_covers(std::string_view wildcard, std::string_view other) noexcept {
    if (!wildcard.starts_with("*.")) return false;
    const std::string_view suffix = wildcard.substr(1);
    return other.size() > suffix.size() && other.ends_with(suffix);
}

/// The names that a listener and a route have in common: one of the two texts, because each of them
/// covers the other or nothing of it. nullopt: none.
constexpr std::optional<std::string_view> common_hostname(std::string_view listener,
                                                          std::string_view route) noexcept {
    if (listener.empty() || listener == route || wildcard_covers(listener, route)) return route;
    if (route.empty() || wildcard_covers(route, listener)) return listener;
    return std::nullopt;
}

/// The names of a route's labels.
struct RouteNames {
    std::string_view kind;  ///< in `allowedRoutes` of listeners
    LiteralName hostname;
    std::optional<LiteralName> scheme;  ///< nullopt: no such label
};

/// Limits of the work for one route, far above those of the schema of Gateway API: 32 parents, 16
/// hostnames, and 64 listeners of a Gateway, so at most 32 768 comparisons. A server without the
/// schema may send so many parts that comparing them without a match would take minutes. A route
/// beyond the limits counts as one with too many targets.
inline constexpr std::size_t max_parents_of_route = 1024;
inline constexpr std::size_t max_comparisons_of_route = 1'000'000;
/// The longest name of DNS, and of a listener. Longer ones match nothing: comparing them may be
/// slow.
inline constexpr std::size_t max_compared_name = 253;

/// Makes the targets of a route: one for each listener that it is attached to, each hostname that
/// it has in common with the listener, and each match.
class RouteTargets {
 public:
    RouteTargets(const RouteObject& route, const RouteNames& names, GeneratorContext& g)
        : route_(route), names_(names), g_(g) {}

    void add() {
        if (route_.matches.empty()) return;
        if (route_.parents.size() > max_parents_of_route) return g_.group.set_overfull();
        auto parent = route_.parents.begin();
        while (parent != route_.parents.end() && !g_.group.overfull()) {
            const auto next = std::find_if(parent, route_.parents.end(), [&](const RouteParent& p) {
                return !p.same_gateway(*parent);
            });
            const auto* gateway =
                g_.lookup.get<GatewayObject>(Kind::gateway, parent->ns, parent->name);
            if (gateway != nullptr) add_gateway(*gateway, {parent, next});
            parent = next;
        }
    }

 private:
    void add_gateway(const GatewayObject& gateway, std::span<const RouteParent> parents) {
        for (const GatewayListener& listener : gateway.listeners) {
            if (!may_compare(parents.size())) return;
            if (listener.name.size() > max_compared_name || !listener.has_valid_port()) continue;
            const bool selected = std::any_of(parents.begin(), parents.end(),
                                              [&](const auto& p) { return p.selects(listener); });
            if (selected && listener.allows(names_.kind, gateway.ns() == route_.ns()))
                add_listener(gateway, listener);
        }
    }

    void add_listener(const GatewayObject& gateway, const GatewayListener& listener) {
        if (!may_compare(route_.hostnames.size())) return;
        begin_listener(gateway, listener);
        std::set<std::string_view> hostnames;
        for (const std::string& own : route_.hostnames) {
            if (g_.group.overfull()) return;
            if (own.size() > max_compared_name) continue;
            const auto hostname = common_hostname(listener.hostname, own);
            if (hostname && hostnames.insert(*hostname).second)
                add_hostname(gateway, listener, *hostname);
        }
    }

    /// Counts comparisons. \returns false if the group is void
    bool may_compare(std::size_t count) {
        if (count > max_comparisons_of_route - comparisons_) g_.group.set_overfull();
        if (g_.group.overfull()) return false;
        comparisons_ += count;
        return true;
    }

    void begin_listener(const GatewayObject& gateway, const GatewayListener& listener) {
        g_.group.begin_common();
        g_.group.add(g_.factory.block()
                         .add("__meta_kubernetes_gateway_namespace", gateway.ns())
                         .make_shared());
        add_gateway_labels(gateway, g_);
        g_.group.add(listener.labels);
    }

    void add_hostname(const GatewayObject& gateway, const GatewayListener& listener,
                      std::string_view hostname) {
        const std::string_view host = connected_host(hostname, gateway);
        if (host.empty() || g_.group.overfull()) return;
        auto block = g_.factory.block();
        block.add(address_name, join_host_port(host, listener.port)).add(names_.hostname, hostname);
        if (names_.scheme) block.add(*names_.scheme, listener.is_secure() ? "https" : "http");
        const LabelBlockPtr labels = block.make();
        for (const LabelBlockPtr& match : route_.matches) {
            if (g_.group.overfull()) return;
            g_.group.begin_target().add(labels).add(match).add_common();
        }
    }

    const RouteObject& route_;
    const RouteNames& names_;
    GeneratorContext& g_;
    std::size_t comparisons_ = 0;
};

inline void route_targets(const RouteObject& route, const RouteNames& names, GeneratorContext& g) {
    g.group.add(route.namespace_name).add(route.route_name);
    route.metadata.add_to(g.group);
    attach_namespace(g, route.ns());
    add_targets(g, [&] { RouteTargets(route, names, g).add(); });
}

/// For targets of routes.
inline void add_kinds_behind_routes(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    kinds.push_back(Kind::gateway);
    add_kinds_attached_to_objects(attach, kinds);
}

}  // namespace k8s_sd::inline v0::detail
