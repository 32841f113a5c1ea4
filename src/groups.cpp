#include "k8s_sd/detail/groups/group_registry.ipp"
#include "k8s_sd/detail/groups/group_watcher.ipp"
