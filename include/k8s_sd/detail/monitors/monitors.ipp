// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/monitors/monitor_plan.ipp"
#include "k8s_sd/detail/monitors/monitor_source.ipp"
#include "k8s_sd/detail/monitors/monitor_table.ipp"
