#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Collects a whole response with possible secrets.
class ResponseCollector final : public ResponseSink {
 public:
    /// \param max_bytes  limit of the body; more is an error
    explicit ResponseCollector(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    void on_head(const ResponseHead& head) override { head_ = head; }
    error_code on_body(std::string_view bytes) override {
        if (body_.size() + bytes.size() > max_bytes_) return errc::object_too_large;
        body_.insert(body_.end(), bytes.begin(), bytes.end());
        return {};
    }

    const ResponseHead& head() const noexcept { return head_; }
    std::string_view body() const noexcept { return {body_.data(), body_.size()}; }

 private:
    const std::size_t max_bytes_;
    ResponseHead head_;
    CleansedBytes body_;
};

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
