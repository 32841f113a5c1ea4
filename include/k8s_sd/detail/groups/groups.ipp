// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/groups/group_watcher.ipp"
#include "k8s_sd/detail/groups/group_watcher_impl.ipp"
#include "k8s_sd/detail/groups/overfull_objects.ipp"
#include "k8s_sd/detail/groups/role_groups.ipp"
