#pragma once

#include "k8s_sd/detail/net/credential_issuer.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Decides when credentials are issued again: shortly before they expire, and when the server
/// refuses them; once for all who ask, and never sooner than a pause after the last time, whatever
/// happens. The pause doubles up to a minute while the issuer fails, while what it issues has
/// expired already, and while what it issues is refused. Whoever asks in a pause is told at once
/// what there is: credentials that were good when they came, or the last problem. Lives on one
/// strand.
class RenewedCredentials {
 public:
    using Handler = std::function<void(std::shared_ptr<const RequestCredentials>)>;
    using Refused = CredentialSource::Refused;
    using WallClock = std::function<std::chrono::system_clock::time_point()>;

    struct Options {
        std::string name;      ///< of the field that names the issuer, for the log
        Duration least_pause;  ///< between two issues
        std::string scheme = "Bearer";
        WallClock wall_clock = [] { return std::chrono::system_clock::now(); };
    };

    /// \param logger  is told once when renewing fails while older ones serve, and once when it
    ///                works again
    RenewedCredentials(std::unique_ptr<CredentialIssuer>, Options, std::shared_ptr<Clock>,
                       Logger logger);
    RenewedCredentials(const RenewedCredentials&) = delete;
    RenewedCredentials& operator=(const RenewedCredentials&) = delete;

    /// The handler is called from this call or later, but not after the destruction.
    void async_get(const Refused&, Handler);

 private:
    bool serve() const;
    void issue();
    void on_issued(IssuedCredentials);
    void accept(IssuedCredentials);
    std::optional<std::chrono::seconds> lifetime_of(const IssuedCredentials&) const;
    void pause(bool in_vain);
    void report();
    std::shared_ptr<const RequestCredentials> answer() const;

    std::unique_ptr<CredentialIssuer> issuer_;
    const Options options_;
    std::shared_ptr<Clock> clock_;
    Logger logger_;
    std::shared_ptr<const RequestCredentials> current_;  ///< the last good ones; null before
    std::optional<TimePoint> renewal_;  ///< of the current ones; none: when they are refused
    std::optional<TimePoint> expiry_;   ///< after which a failed renewal is an error
    std::string problem_;               ///< with the last answer
    std::string reported_;
    TimePoint issued_at_{};
    TimePoint next_issue_{};
    Duration pause_{};
    bool refused_ = false;          ///< the current ones
    std::vector<Handler> waiting_;  ///< not empty: they are being issued
};

}  // namespace k8s_sd::inline v0::detail
