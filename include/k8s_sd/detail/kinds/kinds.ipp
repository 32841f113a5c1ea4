// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/kinds/field_mask.ipp"
#include "k8s_sd/detail/kinds/generic.ipp"
#include "k8s_sd/detail/kinds/object_maker.ipp"
#include "k8s_sd/detail/kinds/schema.ipp"
