#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_issuer.hpp"
#include "k8s_sd/detail/auth/response_collector.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// A token service with client credentials (RFC 6749 4.4). Redirects are not followed.
class OAuth2Issuer final : public CredentialIssuer {
 public:
    /// \throws ConfigError for an invalid token_url
    OAuth2Issuer(const OAuth2Config&, asio::any_io_executor strand, const Environment&);
    ~OAuth2Issuer() override;
    OAuth2Issuer(const OAuth2Issuer&) = delete;
    OAuth2Issuer& operator=(const OAuth2Issuer&) = delete;

    void async_issue(bool refused, Handler) override;

 private:
    /// Where the service expects the client's credentials. Services differ and do not announce it.
    enum class Style { header, body };

    void post(Style);
    std::string request_text(Style) const;
    std::string form(Style) const;
    void on_response(Style, error_code, const std::string& why);
    IssuedCredentials read_answer() const;
    std::string problem_of_status() const;
    std::string redact(std::string text) const;
    void finish(IssuedCredentials);
    void fail(const std::string& problem);

    const OAuth2Config config_;
    const asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    HttpConnection::Target target_;
    std::string authority_;
    std::string path_;
    SecretTexts texts_;  ///< the secret, then the headers
    HttpConnection connection_;
    std::optional<ResponseCollector> response_;
    std::optional<Style> style_;  ///< the successful one
    std::unique_ptr<Timer> timer_;
    Handler handler_;
};

}  // namespace k8s_sd::inline v0::detail
