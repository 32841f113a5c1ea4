#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>

namespace k8s_sd::inline v0 {

namespace detail {
class ApiClientImpl;
}

/// One API server with its credentials, as seen from one strand. Shared by the URLWatchers that
/// talk to it.
/// \par Thread safety  everything must happen on the executor given at construction, which has to
/// be a strand or the executor of a context that a single thread runs.
class K8S_SD_EXPORT ApiClient {
 public:
    /// No I/O happens here. \throws ConfigError for a URL that is not one, and an empty executor
    /// Its budget of requests (ServerLimits) is its own, not that of the execution context.
    ApiClient(asio::any_io_executor strand, const ApiServerConfig& server, Environment = {});
    /// Of the library itself.
    explicit ApiClient(std::unique_ptr<detail::ApiClientImpl>);
    ApiClient(const ApiClient&) = delete;
    ApiClient& operator=(const ApiClient&) = delete;
    ~ApiClient();

    /// The executor given at construction.
    asio::any_io_executor get_executor() const;

    /// Of the library itself.
    detail::ApiClientImpl& impl() noexcept { return *impl_; }

 private:
    std::unique_ptr<detail::ApiClientImpl> impl_;
};

}  // namespace k8s_sd::inline v0
