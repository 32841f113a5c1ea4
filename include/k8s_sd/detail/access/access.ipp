// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/access/access_check.ipp"
#include "k8s_sd/detail/access/required_access.ipp"
