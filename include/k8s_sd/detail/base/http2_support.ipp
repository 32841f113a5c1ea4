#include "k8s_sd/detail/base/http2_support.hpp"

namespace k8s_sd::inline v0::detail {

// K8S_SD_HTTP2 is defined where nghttp2 is linked.
bool has_http2() noexcept {
#if defined(K8S_SD_HTTP2)
    return true;
#else
    return false;
#endif
}

}  // namespace k8s_sd::inline v0::detail
