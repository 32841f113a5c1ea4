// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/labels/label_origin.ipp"
#include "k8s_sd/detail/labels/target_filter.ipp"
#include "k8s_sd/detail/labels/target_group.ipp"
#include "k8s_sd/detail/labels/target_group_maker.ipp"
