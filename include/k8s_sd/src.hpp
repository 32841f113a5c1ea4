#pragma once

// The function bodies of discovery and of the object cache, for hosts without a linked k8s_sd
// library: include this file in exactly one source file, and link the CMake target
// k8s_sd::headers.

#ifdef K8S_SD_SHARED
#error "k8s_sd/src.hpp: this program links the library; remove the include, or link k8s_sd::headers"
#endif

// In the order of the layers: a name in a body may hide one of a lower layer.
// clang-format off
#include "k8s_sd/detail/base/base.ipp"
#include "k8s_sd/detail/text/text.ipp"
#include "k8s_sd/detail/labels/labels.ipp"
#include "k8s_sd/detail/config/config.ipp"
#include "k8s_sd/detail/async/async.ipp"
#include "k8s_sd/detail/transport/transport.ipp"
#include "k8s_sd/detail/auth/auth.ipp"
#include "k8s_sd/detail/client/client.ipp"
#include "k8s_sd/detail/codec/codec.ipp"
#include "k8s_sd/detail/kinds/kinds.ipp"
#include "k8s_sd/detail/watch/watch.ipp"
#include "k8s_sd/detail/sharing/sharing.ipp"
#include "k8s_sd/detail/groups/groups.ipp"
#include "k8s_sd/detail/access/access.ipp"
#include "k8s_sd/detail/discovery/discovery.ipp"
#include "k8s_sd/detail/hosts/hosts.ipp"
#include "k8s_sd/detail/inventory/inventory.ipp"
#include "k8s_sd/detail/fleet/fleet.ipp"
#include "k8s_sd/detail/cache/cache.ipp"
// clang-format on
