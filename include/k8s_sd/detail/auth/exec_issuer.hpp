#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

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

}  // namespace k8s_sd::inline v0::detail
