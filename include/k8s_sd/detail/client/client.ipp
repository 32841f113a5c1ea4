// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/client/api_client_impl.ipp"
#include "k8s_sd/detail/client/api_documents.ipp"
#include "k8s_sd/detail/client/context_environment.ipp"
#include "k8s_sd/detail/client/served_versions.ipp"
#include "k8s_sd/detail/client/server_traffic.ipp"
#include "k8s_sd/detail/client/server_version.ipp"
#include "k8s_sd/detail/client/short_request.ipp"
