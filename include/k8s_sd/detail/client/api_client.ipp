#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/async/host_arguments.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

namespace {

asio::any_io_executor checked_strand(asio::any_io_executor strand) {
    detail::check_host_executor(strand, "ApiClient");
    return strand;
}

}  // namespace

ApiClient::ApiClient(asio::any_io_executor strand, const ApiServerConfig& server,
                     Environment environment)
    : ApiClient(std::make_unique<detail::ApiClientImpl>(checked_strand(std::move(strand)), server,
                                                        std::move(environment))) {}
ApiClient::ApiClient(std::unique_ptr<detail::ApiClientImpl> impl) : impl_(std::move(impl)) {}
ApiClient::~ApiClient() = default;
asio::any_io_executor ApiClient::get_executor() const { return impl_->executor; }

}  // namespace k8s_sd::inline v0
