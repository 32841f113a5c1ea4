#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// ExecCredential of client.authentication.k8s.io, the input and output of credential plugins.
/// Source: Kubernetes documentation, "client-go credential plugins".
namespace k8s_sd::inline v0::detail {

/// The cluster information for a plugin.
struct ExecCluster {
    std::string server;  ///< as written in the kubeconfig
    std::string tls_server_name;
    bool insecure_skip_tls_verify = false;
    std::string ca;  ///< PEM
    std::string proxy_url;
    bool disable_compression = false;
    std::string extension;  ///< JSON of the kubeconfig; empty: none
};

/// The value of KUBERNETES_EXEC_INFO.
/// \param cluster  null: omitted
std::string make_exec_info(const std::string& api_version, const ExecCluster* cluster);

/// Parses a plugin's output. The problem text repeats no possible secret.
IssuedCredentials read_exec_credential(std::string_view output, std::string_view api_version);

/// Runs a credential plugin. The destructor kills it.
class ExecIssuer final : public CredentialIssuer {
 public:
    /// \param server  has `auth.exec`
    ExecIssuer(ApiServerConfig server, asio::any_io_executor strand, const Environment&);
    ~ExecIssuer() override;
    ExecIssuer(const ExecIssuer&) = delete;
    ExecIssuer& operator=(const ExecIssuer&) = delete;

    void async_issue(bool refused, Handler) override;

 private:
    const ExecConfig& config() const noexcept { return *server_.auth.exec; }
    void on_authority(const FileContent&);
    void run(const std::string& ca);
    void give_up() noexcept;
    void on_result(const ProgramRunner::Result&);
    std::string problem_of(const ProgramRunner::Result&) const;
    void finish(IssuedCredentials);
    void fail(const std::string& problem);

    const ApiServerConfig server_;
    const asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<ProgramRunner> programs_;
    FileReader reader_;
    std::unique_ptr<Timer> timer_;  ///< deadline for a program that kill() cannot stop
    LateAnswers::PendingAnswer pending_answer_;
    std::shared_ptr<void> running_;
    std::vector<CleansedBytes> printed_;  ///< printed tokens and keys, for redaction of messages
    Handler handler_;
};

/// The host's own token source. It may complete on any thread, late, or never.
class HostTokenIssuer final : public CredentialIssuer {
 public:
    HostTokenIssuer(std::shared_ptr<TokenSource>, asio::any_io_executor strand,
                    std::shared_ptr<Clock>);
    ~HostTokenIssuer() override;
    HostTokenIssuer(const HostTokenIssuer&) = delete;
    HostTokenIssuer& operator=(const HostTokenIssuer&) = delete;

    void async_issue(bool refused, Handler) override;

 private:
    void finish(IssuedCredentials);

    std::shared_ptr<TokenSource> source_;
    const asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    std::unique_ptr<Timer> timer_;
    LateAnswers::PendingAnswer pending_answer_;
    Handler handler_;
};

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
    CleansedBytes basic_authorization() const;
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
    Style style_ = Style::header;  ///< the last successful one; the other one follows a refusal
    std::unique_ptr<Timer> timer_;
    Handler handler_;
};

}  // namespace k8s_sd::inline v0::detail
