#pragma once

#include "k8s_sd/fields.hpp"

#include <compare>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// The purpose of reading a field. A later purpose includes all fields of the earlier ones.
enum class Use : std::uint8_t {
    none,
    always,  ///< identifies the object
    data,    ///< a member of DataObject
    owners,  ///< the links from a pod to its workload
    labels,  ///< used for a label
    hosts,   ///< available to hosts, see Fields
};

/// The wanted fields of a kind.
struct WantedFields {
    Use labels = Use::labels;  ///< all fields read for this use
    Fields fields;             ///< and these
    auto operator<=>(const WantedFields&) const = default;
};

}  // namespace k8s_sd::inline v0::detail
