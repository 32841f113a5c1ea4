#include "k8s_sd/detail/cache/cache.ipp"
