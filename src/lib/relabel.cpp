#include "k8s_sd/detail/relabel/relabel.ipp"
