#include "k8s_sd/detail/fleet/slice_members.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

/// Empty: the endpoint has no identity.
std::string_view name_of(const api::Endpoint& endpoint) {
    if (endpoint.target_ref && !endpoint.target_ref->name.empty()) return endpoint.target_ref->name;
    if (endpoint.hostname && !endpoint.hostname->empty()) return *endpoint.hostname;
    return endpoint.addresses.empty() ? std::string_view() : endpoint.addresses.front();
}

/// Ignores `ready`: it is also set for unready pods if the Service publishes their addresses.
MemberState state_of(const api::EndpointConditions& conditions) {
    if (conditions.is_terminating()) return MemberState::leaving;
    return conditions.is_serving() ? MemberState::active : MemberState::joining;
}

}  // namespace

void append_members(const api::EndpointSlice& slice, std::vector<FleetMember>& members) {
    for (const api::Endpoint& endpoint : slice.endpoints) {
        const std::string_view name = name_of(endpoint);
        if (!name.empty()) members.push_back({std::string(name), state_of(endpoint.conditions)});
    }
}

}  // namespace k8s_sd::inline v0::detail
