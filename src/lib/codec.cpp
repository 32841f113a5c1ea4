#include "k8s_sd/detail/codec/codec.ipp"
