#include "k8s_sd/detail/watch/failure.ipp"
#include "k8s_sd/detail/watch/url_watcher.ipp"
