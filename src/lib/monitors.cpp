#include "k8s_sd/detail/monitors/monitors.ipp"
