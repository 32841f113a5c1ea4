#include "k8s_sd/detail/stores/sync_waits.ipp"
