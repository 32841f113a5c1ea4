#include "k8s_sd/detail/discovery/discovery.ipp"
