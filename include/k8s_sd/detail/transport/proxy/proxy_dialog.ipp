#include "k8s_sd/detail/transport/proxy/proxy_dialog.hpp"

namespace k8s_sd::inline v0::detail {

void ProxyDialog::feed_end() {
    if (state_ == State::talking) fail("closed the connection instead of an answer");
}

void ProxyDialog::finish_unless_more(std::string_view rest) {
    if (rest.empty()) return finish();
    fail("sent more than its answer, before the server was spoken to");
}

}  // namespace k8s_sd::inline v0::detail
