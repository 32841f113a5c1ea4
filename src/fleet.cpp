#include "k8s_sd/detail/fleet/fleet_view.ipp"
#include "k8s_sd/detail/fleet/view_machine.ipp"
