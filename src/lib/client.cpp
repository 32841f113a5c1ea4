#include "k8s_sd/detail/client/client.ipp"

#include "k8s_sd/detail/auth/auth.ipp"
#include "k8s_sd/detail/transport/transport.ipp"
