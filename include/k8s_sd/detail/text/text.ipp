// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/text/decimal.ipp"
#include "k8s_sd/detail/text/error_text.ipp"
#include "k8s_sd/detail/text/logger.ipp"
#include "k8s_sd/detail/text/metrics_text.ipp"
#include "k8s_sd/detail/text/redaction.ipp"
