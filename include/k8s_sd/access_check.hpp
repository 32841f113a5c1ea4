#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// One step tried by async_check_access().
struct AccessCheckLine {
    /// The outcome of the step.
    enum class Result : std::uint8_t {
        ok,       ///< success
        failed,   ///< discovery cannot work
        skipped,  ///< not tried, or not needed; the text gives the reason
    };
    std::string step{};          ///< "name lookup", "list pods in all namespaces"
    Result result = Result::ok;  ///< see above
    std::string text{};          ///< the finding, or the problem and its remedy; one line
    error_code ec{};             ///< error of a failed step
    Duration took{};             ///< duration of the step
};

/// "ok", "FAILED" or "skipped".
constexpr std::string_view to_string(AccessCheckLine::Result result) noexcept {
    using enum AccessCheckLine::Result;
    return result == ok ? "ok" : result == failed ? "FAILED" : "skipped";
}

/// Receives each step as it completes, on the executor of the check, one call at a time.
using AccessCheckHandler = std::function<void(const AccessCheckLine&)>;

namespace detail {

class AccessCheck;

/// Initiates a check. A class with a constructor, because g++ 12 miscompiles temporary closures and
/// aggregates in an expression with co_await.
class K8S_SD_EXPORT CheckInitiation {
 public:
    using executor_type = asio::any_io_executor;
    using Handler = asio::any_completion_handler<void(error_code, bool)>;

    CheckInitiation(asio::any_io_executor, const DiscoveryConfig&, Duration step_timeout,
                    AccessCheckHandler);
    executor_type get_executor() const noexcept { return executor_; }
    template <class CompletionHandler>
    void operator()(CompletionHandler&& handler) const {
        run(Handler(std::forward<CompletionHandler>(handler)));
    }

 private:
    void run(Handler) const;

    executor_type executor_;
    std::shared_ptr<AccessCheck> check_;
};

}  // namespace detail

/// Tries every step of a Discoverer with this configuration, in the same order: the configuration,
/// the lookup of the server's name, TCP, the credentials, TLS, authentication, then for each rule
/// of required_access() a LIST of one object and a WATCH, ended as soon as it has begun. The
/// requests are those of a Discoverer: same environment, credentials and certificates. Blocks on
/// files of the configuration, as resolve() does. Changes nothing on the server.
///
/// The check ends early after a failed step required by all later ones.
/// \param step_timeout  limit of each step
/// \param on_line  receives each step; not empty
/// \par Handler signature  `void(error_code, bool all_fine)`
/// \par Completion         no error, or asio::error::operation_aborted once cancelled
/// \par Executor           the handler's associated one, else `executor`; as if by post
/// \par Per-operation cancellation  terminal and partial; `on_line` may be called once more
/// \throws ConfigError for an empty executor or function. A mistake in the configuration is
///         reported as the first step.
template <class CompletionToken = asio::deferred_t>
auto async_check_access(asio::any_io_executor executor, const DiscoveryConfig& config,
                        AccessCheckHandler on_line,
                        Duration step_timeout = std::chrono::seconds(10),
                        CompletionToken&& token = CompletionToken{}) {
    return asio::async_initiate<CompletionToken, void(error_code, bool)>(
        detail::CheckInitiation(std::move(executor), config, step_timeout, std::move(on_line)),
        token);
}

}  // namespace k8s_sd::inline v0
