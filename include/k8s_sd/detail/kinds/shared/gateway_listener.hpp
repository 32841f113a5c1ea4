#pragma once

#include "k8s_sd/api/gateway.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace k8s_sd::inline v0::detail {

inline constexpr std::string_view gateway_api_group = "gateway.networking.k8s.io";

/// A listener of a gateway: its labels, and the fields that routes depend on.
struct GatewayListener {
    /// The namespaces of allowed routes. The labels of namespaces are not read: a selector counts
    /// as `any`, and the status of the route decides.
    enum class From : std::uint8_t { same, any, none };

    std::string name;
    std::string hostname;  ///< empty: any
    std::string protocol;
    std::int64_t port = 0;
    bool has_tls = false;
    From from = From::same;
    std::vector<std::string> route_kinds;  ///< empty: those of the protocol
    LabelBlockPtr labels;

    friend bool operator==(const GatewayListener& a, const GatewayListener& b) {
        const auto fields = [](const GatewayListener& l) {
            return std::tie(l.name, l.hostname, l.protocol, l.port, l.has_tls, l.from,
                            l.route_kinds);
        };
        return fields(a) == fields(b);
    }

    /// Not ensured by a server without the schema of Gateway API.
    bool has_valid_port() const { return port >= 1 && port <= 65535; }
    bool is_secure() const { return has_tls || protocol == "HTTPS" || protocol == "TLS"; }

    /// Whether the gateway's owner lets routes of this kind attach.
    bool allows(std::string_view route_kind, bool same_namespace) const {
        if (from == From::none || (from == From::same && !same_namespace)) return false;
        if (route_kinds.empty()) return protocol_carries(route_kind);
        return std::find(route_kinds.begin(), route_kinds.end(), route_kind) != route_kinds.end();
    }

 private:
    /// Protocols unknown to Gateway API carry what their implementation accepts.
    bool protocol_carries(std::string_view route_kind) const {
        if (protocol == "TCP" || protocol == "UDP") return false;
        if (protocol == "TLS") return route_kind == "TLSRoute";
        if (protocol == "HTTP" || protocol == "HTTPS") return route_kind != "TLSRoute";
        return true;
    }
};

inline GatewayListener::From read_from(std::string_view from) {
    using From = GatewayListener::From;
    if (from.empty() || from == "Same") return From::same;
    return from == "All" || from == "Selector" ? From::any : From::none;
}

inline GatewayListener make_listener(const api::Listener& listener, LabelFactory& factory) {
    GatewayListener made;
    made.name = listener.name;
    made.hostname = listener.hostname;
    made.protocol = listener.protocol;
    made.port = listener.port;
    made.has_tls = listener.tls.has_value();
    made.from = read_from(listener.allowed_routes.namespaces.from);
    for (const api::RouteGroupKind& kind : listener.allowed_routes.kinds) {
        const bool ours = kind.group.empty() || kind.group == gateway_api_group;
        made.route_kinds.emplace_back(ours ? kind.kind : std::string_view());
    }
    made.labels = factory.block()
                      .add("__meta_kubernetes_gateway_listener_name", listener.name)
                      .add("__meta_kubernetes_gateway_listener_hostname", listener.hostname)
                      .add("__meta_kubernetes_gateway_listener_port", std::to_string(listener.port))
                      .add("__meta_kubernetes_gateway_listener_protocol", listener.protocol)
                      .make();
    return made;
}

}  // namespace k8s_sd::inline v0::detail
