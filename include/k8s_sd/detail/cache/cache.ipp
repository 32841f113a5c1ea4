// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/cache/cache_collection.ipp"
#include "k8s_sd/detail/cache/cache_namespace.ipp"
#include "k8s_sd/detail/cache/cache_watch.ipp"
#include "k8s_sd/detail/cache/object_cache.ipp"
#include "k8s_sd/detail/cache/object_cache_impl.ipp"
#include "k8s_sd/detail/cache/served_entries.ipp"
