#pragma once

#include "k8s_sd/detail/net/flights.hpp"
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

/// The name lookups of one execution context: one at a time for each name, whoever waits for it,
/// and a second one when nobody waits for the first any more. Their results are not kept.
/// Thread-safe.
class Lookups final : public asio::execution_context::service {
 public:
    /// The text explains an exception of the resolver.
    using Shared = Flights<NameLookup, error_code, std::string, std::vector<asio::ip::address>>;
    using Handler = Shared::Handler;
    using Ticket = Shared::Ticket;

    static asio::execution_context::id id;

    explicit Lookups(asio::execution_context& context);

    /// The handler is posted to `executor`, whose context decides which lookups are shared.
    static Ticket async_resolve(const asio::any_io_executor& executor,
                                const std::shared_ptr<Resolver>&, const std::string& host, Handler);

 private:
    void shutdown() override;

    std::shared_ptr<Shared> lookups_;
};

}  // namespace k8s_sd::inline v0::detail
