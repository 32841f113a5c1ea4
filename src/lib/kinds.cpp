#include "k8s_sd/detail/kinds/kinds.ipp"
