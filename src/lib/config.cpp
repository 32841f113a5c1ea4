#include "k8s_sd/detail/config/config.ipp"
