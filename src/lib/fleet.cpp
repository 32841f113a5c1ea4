#include "k8s_sd/detail/fleet/fleet.ipp"
