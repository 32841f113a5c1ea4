#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The credentials shared by all requests to one server. A value is used until it expires or the
/// server refuses it; then one request to the source serves all waiting callers. Confined to one
/// strand. Handlers are called from the call or later, but not after destruction; they may destroy
/// this object.
class Credentials {
 public:
    using GetHandler = std::function<void(const RequestCredentials&)>;
    /// `changed`: there is a usable value other than the refused one.
    using RefreshHandler = std::function<void(bool changed)>;

    Credentials(std::unique_ptr<CredentialSource>, std::shared_ptr<Clock>);
    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    void async_get(GetHandler);
    /// Call after a 401 for a request with the value of revision `refused`. If another request has
    /// already brought a new value, the source is not asked again.
    void async_refresh(std::uint64_t refused, RefreshHandler);
    /// Replaces the source; it also serves the waiting callers.
    void replace_source(std::unique_ptr<CredentialSource>);
    /// Removes echoes of current and earlier values from a text; see detail::redact().
    std::string redact(std::string text) const;

 private:
    bool usable() const noexcept;
    void ask(CredentialSource::Refused, GetHandler);
    void ask_source(CredentialSource::Refused);
    void on_answer(RequestCredentials);
    std::shared_ptr<const RequestCredentials> keep(RequestCredentials);

    std::unique_ptr<CredentialSource> source_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<const RequestCredentials> current_;  ///< null before the first result
    std::vector<GetHandler> waiting_;  ///< not empty: a request to the source is pending
    bool outdated_ = false;            ///< the current value came from a previous source
    /// Values sent to the server, still in use or not.
    struct Sent {
        void add(const CleansedBytes&);
        CleansedBytes latest, previous;
    };
    Sent values_, headers_;
    std::uint64_t revisions_ = 0;
};

/// Creates the credential source for a server. All clients of the execution context with the same
/// configuration share issued credentials.
/// \param environment  without null members
/// \throws ConfigError for an invalid token_url
std::unique_ptr<CredentialSource> make_credential_source(const ApiServerConfig&,
                                                         const asio::any_io_executor& strand,
                                                         const Environment& environment);

}  // namespace k8s_sd::inline v0::detail
