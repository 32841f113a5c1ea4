#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/renewed_credentials.hpp"
#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <tuple>

namespace k8s_sd::inline v0::detail {

/// Renewed credentials on their own strand.
struct StrandCredentials {
    asio::any_io_executor strand;
    std::unique_ptr<RenewedCredentials> credentials;
};

/// The issued credentials of one execution context, shared by all clients with the same issuer, on
/// any strand. Thread-safe.
class SharedCredentials final : public asio::execution_context::service {
 public:
    /// Exactly the values an issuer depends on.
    using Issuer =
        std::tuple<ApiServerConfig, std::shared_ptr<Clock>, std::shared_ptr<ProgramRunner>>;
    using Make = std::function<std::unique_ptr<RenewedCredentials>(asio::any_io_executor strand)>;

    static asio::execution_context::id id;

    explicit SharedCredentials(asio::execution_context& context)
        : asio::execution_context::service(context) {}

    /// A source for one client.
    /// \param make  called if the key is new
    static std::unique_ptr<CredentialSource> source(const asio::any_io_executor& strand,
                                                    const Issuer&, const Make& make);

 private:
    void shutdown() override {}
    std::shared_ptr<StrandCredentials> acquire(const asio::any_io_executor&, const Issuer&,
                                               const Make&);

    std::mutex mutex_;  // serializes source(), so equal issuers are created once
    WeakMap<Issuer, StrandCredentials> issuers_;
};

}  // namespace k8s_sd::inline v0::detail
