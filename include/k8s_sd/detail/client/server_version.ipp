#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/client/server_version.hpp"

#include <chrono>

namespace k8s_sd::inline v0::detail {

void ServerVersion::check() {
    constexpr Duration timeout = std::chrono::seconds(10);
    const auto traffic = api_.traffic;
    const TimePoint now = api_.environment.clock->now();
    if (!traffic->list_forms.take_version_check(traffic->recoveries(), now)) return;
    if (!get_) get_ = std::make_shared<ShortRequest>(api_);
    get_->start(
        "/version", ShortRequest::short_body, timeout,
        [this, traffic, revision = api_.server_revision](const ShortRequest::Answer& answer) {
            if (answer.ec || answer.head.status != 200) return;
            if (revision != api_.server_revision) return;  // of another server
            traffic->list_forms.on_version(read_server_version(answer.body));
        });
}

}  // namespace k8s_sd::inline v0::detail
