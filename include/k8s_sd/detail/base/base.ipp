// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/base/abi.ipp"
#include "k8s_sd/detail/base/error.ipp"
#include "k8s_sd/detail/base/hash.ipp"
#include "k8s_sd/detail/base/http2_support.ipp"
#include "k8s_sd/detail/base/other_kinds.ipp"
#include "k8s_sd/detail/base/process_end.ipp"
#include "k8s_sd/detail/base/secrets.ipp"
