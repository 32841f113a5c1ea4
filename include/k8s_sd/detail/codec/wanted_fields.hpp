#pragma once

#include "k8s_sd/fields.hpp"

#include <compare>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// What a field is read for. What is read for one purpose is read for those behind it as well.
enum class Use : std::uint8_t {
    none,
    always,  ///< to know which object it is
    data,    ///< a DataObject has it
    owners,  ///< the links from a pod to its workload
    labels,  ///< it reaches a label
    hosts,   ///< hosts may want it, see Fields
};

/// Which fields of a kind are read.
struct WantedFields {
    Use labels = Use::labels;  ///< all that are read for this
    Fields fields;             ///< and these
    auto operator<=>(const WantedFields&) const = default;
};

}  // namespace k8s_sd::inline v0::detail
