#pragma once

#include "k8s_sd/detail/base/secrets.hpp"

namespace k8s_sd::inline v0::detail {

/// A client certificate (chain) and its key in PEM.
struct ClientIdentity {
    CleansedBytes certificate;
    CleansedBytes key;
    bool operator==(const ClientIdentity&) const = default;
};

}  // namespace k8s_sd::inline v0::detail
