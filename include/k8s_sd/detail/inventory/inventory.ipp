// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/inventory/cluster_inventory.ipp"
#include "k8s_sd/detail/inventory/cluster_profile.ipp"
