// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/sharing/kind_view.ipp"
#include "k8s_sd/detail/sharing/kind_watches.ipp"
#include "k8s_sd/detail/sharing/matching_views.ipp"
#include "k8s_sd/detail/sharing/selection_index.ipp"
#include "k8s_sd/detail/sharing/shared_watch.ipp"
#include "k8s_sd/detail/sharing/shared_watches.ipp"
#include "k8s_sd/detail/sharing/watch_plan.ipp"
#include "k8s_sd/detail/sharing/watch_set.ipp"
