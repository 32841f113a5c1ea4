#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>

namespace k8s_sd::inline v0 {

namespace detail {
class ApiClientImpl;
}

/// One API server with its credentials, as seen from one strand. Shared by its URLWatchers.
/// \par Thread safety  everything must happen on the executor given at construction: a strand, or
/// the executor of a context run by a single thread.
class K8S_SD_EXPORT ApiClient {
 public:
    /// Does no I/O. Has a request budget (ServerLimits) of its own, apart from the execution
    /// context's.
    /// \throws ConfigError for an invalid URL, and for an empty executor
    ApiClient(asio::any_io_executor strand, const ApiServerConfig& server, Environment = {});
    ApiClient(const ApiClient&) = delete;
    ApiClient& operator=(const ApiClient&) = delete;
    ~ApiClient();

    /// The executor given at construction.
    asio::any_io_executor get_executor() const;

 private:
    friend struct detail::Access;

    explicit ApiClient(std::unique_ptr<detail::ApiClientImpl>);

    std::unique_ptr<detail::ApiClientImpl> impl_;
};

}  // namespace k8s_sd::inline v0
