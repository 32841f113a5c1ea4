#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/redaction.hpp"

#include <exception>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

Credentials::Credentials(std::unique_ptr<CredentialSource> source, std::shared_ptr<Clock> clock)
    : source_(std::move(source)), clock_(std::move(clock)) {}

void Credentials::async_get(GetHandler handler) {
    const bool fresh = usable() && !outdated_ && waiting_.empty() &&
                       (!current_->expiry || clock_->now() < *current_->expiry);
    if (!fresh) return ask(nullptr, std::move(handler));
    const auto answer = current_;  // the handler may replace it
    handler(*answer);
}

void Credentials::async_refresh(std::uint64_t refused, RefreshHandler handler) {
    if (usable() && current_->revision != refused) return handler(true);
    ask(usable() && !outdated_ ? current_ : nullptr,
        [refused, handler = std::move(handler)](const RequestCredentials& answer) {
            handler(!answer.ec && answer.revision != refused);
        });
}

std::string Credentials::redact(std::string text) const {
    for (const CleansedBytes* value : {&values_.latest, &values_.previous}) {
        if (!value->empty()) text = detail::redact(std::move(text), secrets_of(*value));
    }
    for (const CleansedBytes* lines : {&headers_.latest, &headers_.previous}) {
        if (!lines->empty()) text = detail::redact(std::move(text), secrets_of_headers(*lines));
    }
    return text;
}

bool Credentials::usable() const noexcept { return current_ && !current_->ec; }

void Credentials::ask(CredentialSource::Refused refused, GetHandler handler) {
    waiting_.push_back(std::move(handler));
    if (waiting_.size() == 1) ask_source(std::move(refused));
}

void Credentials::replace_source(std::unique_ptr<CredentialSource> source) {
    source_ = std::move(source);
    outdated_ = true;
    if (!waiting_.empty()) ask_source(nullptr);
}

void Credentials::ask_source(CredentialSource::Refused refused) {
    std::shared_ptr<bool> answered;  // true: a handler threw
    RequestCredentials none = credentials_without_memory();
    try {
        answered = std::make_shared<bool>(false);
        return source_->async_get(std::move(refused), [this, answered](RequestCredentials answer) {
            *answered = true;
            on_answer(std::move(answer));
        });
    } catch (const std::bad_alloc&) {
        if (answered && *answered) throw;
    } catch (const std::exception& error) {
        if (*answered) throw;
        none.problem = error.what();
    } catch (...) {
        if (*answered) throw;
        none.problem = "unknown exception";
    }
    on_answer(std::move(none));
}

void Credentials::Sent::add(const CleansedBytes& value) {
    if (value.empty() || value == latest) return;
    previous.swap(latest);
    latest = value;
}

void Credentials::on_answer(RequestCredentials answer) {
    // Whatever happens, all requests get an answer: without one they would never end.
    FirstException problem;
    std::shared_ptr<const RequestCredentials> kept;
    problem.catch_from([&] { kept = keep(std::move(answer)); });
    const RequestCredentials none = credentials_without_memory();
    // Any handler may destroy this object.
    for (const GetHandler& handler : std::exchange(waiting_, {})) {
        problem.catch_from([&] { handler(kept ? *kept : none); });
    }
    problem.rethrow();
}

std::shared_ptr<const RequestCredentials> Credentials::keep(RequestCredentials answer) {
    if (!is_header_text(view(answer.value))) {
        answer = {};
        answer.ec = errc::credentials_unavailable;
        answer.problem = "the credentials contain a line break or another control character";
    }
    const bool same = current_ && are_same(*current_, answer);
    values_.add(answer.value);
    headers_.add(answer.headers);
    answer.revision = same ? current_->revision : ++revisions_;
    current_ = std::make_shared<const RequestCredentials>(std::move(answer));
    outdated_ = false;
    return current_;
}

}  // namespace k8s_sd::inline v0::detail
