#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <string_view>

namespace k8s_sd::inline v0::api {

/// core/v1 NamespaceStatus
struct NamespaceStatus {
    std::string_view phase;  ///< "Active" or "Terminating"
    bool operator==(const NamespaceStatus&) const = default;
};

/// core/v1 Namespace
struct Namespace {
    ObjectMeta metadata;
    NamespaceStatus status;
    bool operator==(const Namespace&) const = default;
};

template <>
inline constexpr Kind kind_of<Namespace> = Kind::namespace_;

}  // namespace k8s_sd::inline v0::api
