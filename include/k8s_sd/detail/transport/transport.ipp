// The bodies of this layer, for src/lib/ and src.hpp.
#include "k8s_sd/detail/transport/address_race.ipp"
#include "k8s_sd/detail/transport/byte_stream.ipp"
#include "k8s_sd/detail/transport/channel.ipp"
#include "k8s_sd/detail/transport/connect_op.ipp"
#include "k8s_sd/detail/transport/foreign_error.ipp"
#include "k8s_sd/detail/transport/http2/http2_request.ipp"
#include "k8s_sd/detail/transport/http_connection.ipp"
#include "k8s_sd/detail/transport/inflate.ipp"
#include "k8s_sd/detail/transport/lookups.ipp"
#include "k8s_sd/detail/transport/proxy/http_connect.ipp"
#include "k8s_sd/detail/transport/proxy/proxy_target.ipp"
#include "k8s_sd/detail/transport/proxy/socks5.ipp"
#include "k8s_sd/detail/transport/system_connector.ipp"
#include "k8s_sd/detail/transport/system_resolver.ipp"
#include "k8s_sd/detail/transport/tls/tls.ipp"
#include "k8s_sd/detail/transport/tls/tls_contexts.ipp"
#include "k8s_sd/detail/transport/tls/tls_peer.ipp"
#include "k8s_sd/detail/transport/tls/tls_session.ipp"
#include "k8s_sd/detail/transport/unreachable.ipp"
// K8S_SD_HTTP2 is defined where nghttp2 is linked.
#if defined(K8S_SD_HTTP2)
#include "k8s_sd/detail/transport/http2/nghttp2_callbacks.ipp"
#include "k8s_sd/detail/transport/http2/nghttp2_memory.ipp"
#include "k8s_sd/detail/transport/http2/nghttp2_session.ipp"
#else
#include "k8s_sd/detail/transport/http2/no_http2.ipp"
#endif
