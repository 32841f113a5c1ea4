#include "k8s_sd/detail/discovery/discoverer.ipp"
#include "k8s_sd/detail/discovery/discovery_manager.ipp"
#include "k8s_sd/detail/discovery/job_state.ipp"
