#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/net/credentials.hpp"
#include "k8s_sd/detail/net/redaction.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

Credentials::Credentials(std::unique_ptr<CredentialSource> source, std::shared_ptr<Clock> clock)
    : source_(std::move(source)), clock_(std::move(clock)) {}

void Credentials::async_get(GetHandler handler) {
    const bool fresh = usable() && !outdated_ && waiting_.empty() &&
                       (!current_->expiry || clock_->now() < *current_->expiry);
    if (!fresh) return ask(std::move(handler));
    const auto answer = current_;  // the handler may bring about a new one
    handler(*answer);
}

void Credentials::async_refresh(std::uint64_t refused, RefreshHandler handler) {
    if (usable() && current_->revision != refused) return handler(true);
    ask([refused, handler = std::move(handler)](const Authorization& answer) {
        handler(!answer.ec && answer.revision != refused);
    });
}

std::string Credentials::redact(std::string text) const {
    for (const CleansedBytes* value : {&latest_, &previous_}) {
        if (!value->empty()) text = detail::redact(std::move(text), secrets_of(*value));
    }
    return text;
}

bool Credentials::usable() const noexcept { return current_ && !current_->ec; }

void Credentials::ask(GetHandler handler) {
    waiting_.push_back(std::move(handler));
    if (waiting_.size() == 1) ask_source();
}

void Credentials::replace_source(std::unique_ptr<CredentialSource> source) {
    source_ = std::move(source);
    outdated_ = true;
    if (!waiting_.empty()) ask_source();
}

void Credentials::ask_source() {
    const auto answered = std::make_shared<bool>(false);  // then the exception is a handler's
    Authorization none;
    none.ec = errc::credentials_unavailable;
    none.problem = "unknown exception";
    try {
        return source_->async_get([this, answered](Authorization answer) {
            *answered = true;
            on_answer(std::move(answer));
        });
    } catch (const std::exception& error) {
        if (*answered) throw;
        none.problem = error.what();
    } catch (...) {
        if (*answered) throw;
    }
    on_answer(std::move(none));
}

void Credentials::on_answer(Authorization answer) {
    if (!is_header_text(view(answer.value))) {
        answer = {};
        answer.ec = errc::credentials_unavailable;
        answer.problem = "the credentials contain a line break or another control character";
    }
    outdated_ = false;
    const bool same = current_ && current_->value == answer.value;
    if (!answer.value.empty() && answer.value != latest_) {
        previous_.swap(latest_);
        latest_ = answer.value;
    }
    answer.revision = same ? current_->revision : ++revisions_;
    current_ = std::make_shared<const Authorization>(std::move(answer));
    const auto current = current_;
    // Any of them may destroy this object.
    for (const GetHandler& handler : std::exchange(waiting_, {})) handler(*current);
}

}  // namespace k8s_sd::inline v0::detail
