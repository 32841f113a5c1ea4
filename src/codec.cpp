#include "k8s_sd/detail/codec/json_decoder.ipp"
#include "k8s_sd/detail/codec/json_status.ipp"
#include "k8s_sd/detail/codec/list_watch_reader.ipp"
#include "k8s_sd/detail/codec/make_decoder.ipp"
