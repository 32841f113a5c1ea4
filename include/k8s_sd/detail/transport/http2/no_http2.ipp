#include "k8s_sd/detail/transport/http2/http2_session.hpp"

namespace k8s_sd::inline v0::detail {

std::unique_ptr<Http2Session> make_http2_session() { return nullptr; }
std::string http2_error_name(std::uint32_t code) { return "error " + std::to_string(code); }

}  // namespace k8s_sd::inline v0::detail
