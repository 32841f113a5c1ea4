#pragma once

#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The credentials that all requests to one server share. A value serves until it expires; then,
/// or when the server refuses it, the source is asked once for everybody who waits. Lives on one
/// strand. A handler is called from the call that got it or later, but not after the destruction;
/// it may destroy the credentials.
class Credentials {
 public:
    using GetHandler = std::function<void(const RequestCredentials&)>;
    /// `changed`: there is a usable value, and it is not the one that was refused.
    using RefreshHandler = std::function<void(bool changed)>;

    Credentials(std::unique_ptr<CredentialSource>, std::shared_ptr<Clock>);
    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    void async_get(GetHandler);
    /// After a 401 answer to a request with the value of the revision `refused`. The source is not
    /// asked if another request has brought a new value already.
    void async_refresh(std::uint64_t refused, RefreshHandler);
    /// From now on another source; who waits is answered by that one.
    void replace_source(std::unique_ptr<CredentialSource>);
    /// A foreign text without echoes of the present values or those before; see detail::redact().
    std::string redact(std::string text) const;

 private:
    bool usable() const noexcept;
    void ask(CredentialSource::Refused, GetHandler);
    void ask_source(CredentialSource::Refused);
    void on_answer(RequestCredentials);

    std::unique_ptr<CredentialSource> source_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<const RequestCredentials> current_;  ///< null before the first answer
    std::vector<GetHandler> waiting_;                    ///< not empty: the source is being asked
    bool outdated_ = false;                              ///< the present ones: of another source
    /// Values that were sent, whether or not they still serve.
    struct Sent {
        void add(const CleansedBytes&);
        CleansedBytes latest, previous;
    };
    Sent values_, headers_;
    std::uint64_t revisions_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
