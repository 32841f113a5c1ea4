#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// How members of a fleet divide the objects of a configuration, see DividedDiscovery.
enum class DivideBy : std::uint8_t {
    nothing,     ///< each member discovers all of them
    objects,     ///< by the uid of each object; roles pod, node and service
    namespaces,  ///< each member has some of the namespaces; all roles but node
};
inline constexpr std::size_t divide_by_count = 3;  ///< number of values of DivideBy

/// The name of the enumerator.
constexpr std::string_view to_string(DivideBy by) noexcept {
    constexpr std::string_view names[divide_by_count] = {"nothing", "objects", "namespaces"};
    return names[static_cast<std::size_t>(by)];
}

/// How to divide the discovered objects among the members of a fleet. Must be the same in all
/// members.
struct Division {
    DivideBy by = DivideBy::nothing;  ///< see above
    /// With DivideBy::objects: number of equal parts assigned to members, a power of two, at most
    /// 4096. More parts make the shares of many members more equal, and requests longer. 256 are
    /// enough for about 30 members.
    unsigned slots = 256;
    auto operator<=>(const Division&) const = default;
};

}  // namespace k8s_sd::inline v0
