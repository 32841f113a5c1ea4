#pragma once

#include "k8s_sd/detail/async/single_flight.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct NameLookup {
    bool is(const NameLookup& other) const noexcept {
        return resolver == other.resolver && host == other.host;
    }

    std::shared_ptr<Resolver> resolver;
    std::string host;
};

/// The name lookups of one execution context. Concurrent lookups of a name share one call; a second
/// one starts only if the first was abandoned. Results are not cached. Thread-safe.
class K8S_SD_EXPORT Lookups final : public asio::execution_context::service {
 public:
    /// The text is that of a resolver's exception.
    using Shared =
        SingleFlight<NameLookup, error_code, std::string, std::vector<asio::ip::address>>;
    using Handler = Shared::Handler;
    using WaiterHandle = Shared::WaiterHandle;

    static asio::execution_context::id id;

    explicit Lookups(asio::execution_context& context);

    /// Posts the handler to `executor`; its context determines the shared lookups.
    static WaiterHandle async_resolve(const asio::any_io_executor& executor,
                                      const std::shared_ptr<Resolver>&, const std::string& host,
                                      Handler);

 private:
    void shutdown() override;

    std::shared_ptr<Shared> lookups_;
};

}  // namespace k8s_sd::inline v0::detail
