#include "k8s_sd/detail/groups/groups.ipp"

#include "k8s_sd/detail/access/access.ipp"
#include "k8s_sd/detail/sharing/sharing.ipp"
