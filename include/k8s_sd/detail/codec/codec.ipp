// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/codec/generic_reader.ipp"
#include "k8s_sd/detail/codec/json/json_decoder.ipp"
#include "k8s_sd/detail/codec/json/json_skip.ipp"
#include "k8s_sd/detail/codec/list_watch_reader.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_decoder.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.ipp"
#include "k8s_sd/detail/codec/server_status.ipp"
