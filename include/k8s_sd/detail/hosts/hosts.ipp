// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/hosts/object_watch.ipp"
#include "k8s_sd/detail/hosts/resource_search.ipp"
#include "k8s_sd/detail/hosts/watched_objects.ipp"
