#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>

namespace k8s_sd::inline v0::detail {

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

}  // namespace k8s_sd::inline v0::detail
