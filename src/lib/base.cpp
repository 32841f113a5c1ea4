#include "k8s_sd/detail/base/base.ipp"

#include "k8s_sd/detail/async/async.ipp"
#include "k8s_sd/detail/labels/labels.ipp"
#include "k8s_sd/detail/text/text.ipp"
