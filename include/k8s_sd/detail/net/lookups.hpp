#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The name lookups of one execution context: one at a time for each name, whoever waits for it.
/// Its result is not kept. Those who wait are work of the context, so that run() does not return.
/// Once the context is gone nobody is told, whenever the resolver answers. Thread-safe.
class Lookups final : public asio::execution_context::service {
    class State;

 public:
    /// The text explains an exception of the resolver.
    using Handler = std::function<void(error_code, std::string, std::vector<asio::ip::address>)>;
    /// One who waits.
    class Ticket {
     public:
        Ticket() = default;
        Ticket(std::weak_ptr<State> state, std::uint64_t number)
            : state_(std::move(state)), number_(number) {}
        /// Forgets the handler, unless it was posted already. A lookup that nobody waits for any
        /// more is abandoned: the next one begins anew.
        void cancel() noexcept;

     private:
        std::weak_ptr<State> state_;
        std::uint64_t number_ = 0;
    };

    static asio::execution_context::id id;

    explicit Lookups(asio::execution_context& context);

    /// The handler is posted to `executor`, whose context decides which lookups are shared.
    static Ticket async_resolve(const asio::any_io_executor& executor,
                                const std::shared_ptr<Resolver>&, const std::string& host, Handler);

 private:
    void shutdown() override;

    std::shared_ptr<State> state_;
};

}  // namespace k8s_sd::inline v0::detail
