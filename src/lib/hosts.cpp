#include "k8s_sd/detail/hosts/hosts.ipp"
