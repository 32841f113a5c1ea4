// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/watch/failure.ipp"
#include "k8s_sd/detail/watch/outcome.ipp"
#include "k8s_sd/detail/watch/selection.ipp"
#include "k8s_sd/detail/watch/short_verdict.ipp"
#include "k8s_sd/detail/watch/url_watcher.ipp"
#include "k8s_sd/detail/watch/url_watcher_impl.ipp"
#include "k8s_sd/detail/watch/watch_report.ipp"
#include "k8s_sd/detail/watch/watch_request.ipp"
