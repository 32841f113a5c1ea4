#include "k8s_sd/detail/inventory/inventory.ipp"
