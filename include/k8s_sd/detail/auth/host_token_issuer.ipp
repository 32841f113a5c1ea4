#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"

#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration host_token_timeout = std::chrono::seconds(60);

IssuedCredentials no_host_token(const std::string& problem) {
    IssuedCredentials none;
    none.problem = "token_source: " + problem;
    return none;
}

/// Redacts the text, because the host may have put its token there.
IssuedCredentials issued_by_host(error_code ec, const std::string& problem,
                                 TokenSource::Token token) {
    IssuedCredentials issued;
    append(issued.token, token.value);
    cleanse(token.value.data(), token.value.size());
    if (ec) {
        return no_host_token(
            printable(detail::redact(problem.empty() ? ec.message() : problem, {issued.token})));
    }
    if (issued.token.empty()) return no_host_token("it answered without a token");
    if (token.expiry) issued.expiry = std::chrono::floor<std::chrono::seconds>(*token.expiry);
    return issued;
}

}  // namespace

HostTokenIssuer::HostTokenIssuer(std::shared_ptr<TokenSource> source, asio::any_io_executor strand,
                                 std::shared_ptr<Clock> clock)
    : source_(std::move(source)),
      strand_(std::move(strand)),
      clock_(std::move(clock)),
      timer_(clock_->make_timer(strand_)) {}

HostTokenIssuer::~HostTokenIssuer() {
    pending_answer_.cancel();
    timer_->cancel();
}

void HostTokenIssuer::async_issue(bool refused, Handler handler) {
    using Answer = std::shared_ptr<const IssuedCredentials>;
    handler_ = std::move(handler);
    timer_->expires_at(clock_->now() + host_token_timeout,
                       [this] { finish(no_host_token("it did not answer in 60 s")); });
    pending_answer_ = LateAnswers::async_ask<Answer>(
        strand_, source_,
        [&](const std::function<void(Answer)>& complete) {
            source_->async_get_token(refused, [complete](error_code ec, const std::string& words,
                                                         TokenSource::Token token) {
                complete(std::make_shared<const IssuedCredentials>(
                    issued_by_host(ec, words, std::move(token))));
            });
        },
        [](const std::string& problem) {
            return std::make_shared<const IssuedCredentials>(no_host_token(problem));
        },
        [this](const Answer& issued) { finish(*issued); });
}

void HostTokenIssuer::finish(IssuedCredentials issued) {
    pending_answer_.cancel();
    timer_->cancel();
    std::exchange(handler_, nullptr)(std::move(issued));
}

}  // namespace k8s_sd::inline v0::detail
