#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

namespace k8s_sd::inline v0 {

/// Finds a server as programs do that were told none. A configuration with `api_server.url` or
/// `kubeconfig_file` stays as it is. Otherwise, the first that there is: the files of $KUBECONFIG,
/// the service account of the pod the program runs in, ~/.kube/config. With `kubeconfig_context`
/// only kubeconfigs are considered. Looks whether files exist but does not read them; resolve()
/// does. Thread-safe as long as nothing changes the process environment.
/// \throws ConfigError that lists what was tried; if there is an option that needs a URL, where a
///         kubeconfig is what was found; also if $KUBECONFIG names files and none exists:
///         kubectl takes no other file then, either
K8S_SD_EXPORT void find_api_server(DiscoveryConfig&, const InClusterFiles& = {});

}  // namespace k8s_sd::inline v0
