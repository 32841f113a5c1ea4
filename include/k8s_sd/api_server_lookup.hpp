#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

namespace k8s_sd::inline v0 {

/// Finds the API server for a program without an explicit configuration. A configuration with
/// `api_server.url` or `kubeconfig_file` is left unchanged. Otherwise the first existing source is
/// used: the files of $KUBECONFIG, the service account of the program's pod, ~/.kube/config. With
/// `kubeconfig_context` only kubeconfigs are considered. Checks only whether files exist;
/// resolve() reads them. Thread-safe as long as nothing changes the process environment.
/// \throws ConfigError with the list of tried sources if there is none; if an option needs a URL
///         and the lookup found a kubeconfig; also if $KUBECONFIG names files and none of them
///         exists: kubectl tries no other file then, either
K8S_SD_EXPORT void find_api_server(DiscoveryConfig&, const InClusterFiles& = {});

}  // namespace k8s_sd::inline v0
