#include "k8s_sd/detail/watch/watch.ipp"
