#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Schedules the renewal of issued credentials: shortly before their expiry, and after a refusal by
/// the server. Concurrent callers share an issue, and a minimum pause separates issues. The pause
/// doubles up to a minute while the issuer fails, or its credentials are expired or refused. During
/// a pause, callers receive the current result at once: credentials valid when issued, or the last
/// problem. Confined to one strand.
class RenewedCredentials {
 public:
    using Handler = std::function<void(std::shared_ptr<const RequestCredentials>)>;
    using Refused = CredentialSource::Refused;
    using WallClock = std::function<std::chrono::system_clock::time_point()>;

    struct Options {
        std::string name;    ///< the configuration field of the issuer, for the log
        Duration min_pause;  ///< between two issues
        std::string scheme = "Bearer";
        WallClock wall_clock = [] { return std::chrono::system_clock::now(); };
    };

    /// \param logger  logs the first failed renewal while older credentials are in use, and the
    /// recovery
    RenewedCredentials(std::unique_ptr<CredentialIssuer>, Options, std::shared_ptr<Clock>,
                       Logger logger);
    RenewedCredentials(const RenewedCredentials&) = delete;
    RenewedCredentials& operator=(const RenewedCredentials&) = delete;

    /// The handler is called from this call or later, but not after destruction.
    void async_get(const Refused&, Handler);

 private:
    bool serve() const;
    void issue();
    void on_issued(IssuedCredentials);
    void accept(IssuedCredentials);
    std::optional<std::chrono::seconds> lifetime_of(const IssuedCredentials&) const;
    void take(IssuedCredentials);
    void pause(bool in_vain);
    void report();
    std::shared_ptr<const RequestCredentials> answer() const;

    std::unique_ptr<CredentialIssuer> issuer_;
    const Options options_;
    std::shared_ptr<Clock> clock_;
    Logger logger_;
    /// The answer for lack of memory for another one.
    const std::shared_ptr<const RequestCredentials> without_memory_;
    std::shared_ptr<const RequestCredentials> current_;  ///< the last good credentials; null before
    std::optional<TimePoint> renewal_;  ///< of the current ones; nullopt: after a refusal
    std::optional<TimePoint> expiry_;   ///< a failed renewal is an error from then on
    std::string problem_;               ///< of the last result
    std::string reported_;
    TimePoint issued_at_{};
    TimePoint next_issue_{};
    Duration pause_{};
    bool refused_ = false;          ///< the current ones were refused
    std::vector<Handler> waiting_;  ///< not empty: an issue is pending
};

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
