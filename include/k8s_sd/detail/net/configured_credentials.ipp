#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/net/configured_credentials.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Prometheus and client-go re-read token files about once a minute.
constexpr Duration credentials_file_lifetime = std::chrono::seconds(60);

}  // namespace

ConfiguredCredentials::ConfiguredCredentials(const AuthConfig& config, asio::any_io_executor strand,
                                             std::shared_ptr<Clock> clock,
                                             std::shared_ptr<FileCalls> calls, Logger logger)
    : clock_(std::move(clock)),
      username_(config.username),
      logger_(std::move(logger)),
      reader_(std::move(strand), clock_, std::move(calls)) {
    if (!config.bearer_token.empty() || !config.bearer_token_file.empty()) {
        scheme_ = Scheme::bearer;
        file_ = config.bearer_token_file;
        field_ = file_.empty() ? "bearer_token" : "bearer_token_file " + file_;
        if (file_.empty()) accept(config.bearer_token);
    } else if (!config.username.empty()) {
        scheme_ = Scheme::basic;
        file_ = config.password_file;
        field_ = file_.empty() ? "username or password" : "password_file " + file_;
        if (file_.empty()) accept(config.password);
    }
}

void ConfiguredCredentials::async_get(Handler handler) {
    if (file_.empty()) return handler(answer());
    reader_.async_read(file_, [this, handler = std::move(handler)](const FileContent& content) {
        on_content(content);
        report();
        handler(answer());
    });
}

Authorization ConfiguredCredentials::answer() const {
    const bool usable = scheme_ == Scheme::none || !header_.empty();
    Authorization result;
    result.value = header_;
    result.ec = usable ? error_code() : errc::credentials_unavailable;
    result.problem = problem_;
    if (!file_.empty()) {
        // The file may be half written: the next request tries it again.
        result.expiry = clock_->now();
        if (problem_.empty()) *result.expiry += credentials_file_lifetime;
    }
    return result;
}

void ConfiguredCredentials::on_content(const FileContent& content) {
    if (!content.problem.empty()) {
        problem_ = field_ + ": " + content.problem;
        return;
    }
    const std::string_view value = trim(view(content.bytes));
    if (value.empty()) {
        problem_ = field_ + ": it is empty";
        return;
    }
    accept(value);
}

/// Without an older value the problem is the watch's error.
void ConfiguredCredentials::report() {
    if (header_.empty() || reported_ == problem_) return;
    reported_ = problem_;
    logger_.log(LogLevel::warning, problem_.empty()
                                       ? field_ + ": usable again"
                                       : problem_ + "; going on with the value read before");
}

void ConfiguredCredentials::accept(std::string_view value) {
    if (!is_header_text(value) || !is_header_text(username_)) {
        problem_ = field_ + ": it contains a line break or another control character";
        return;
    }
    problem_.clear();
    CleansedBytes header = make_header(value);
    header_.swap(header);
}

CleansedBytes ConfiguredCredentials::make_header(std::string_view value) const {
    CleansedBytes header;
    if (scheme_ == Scheme::bearer) {
        append(header, "Bearer ");
        append(header, value);
        return header;
    }
    CleansedBytes plain;
    append(plain, username_);
    append(plain, ":");
    append(plain, value);
    append(header, "Basic ");
    append(header, view(encode_base64<CleansedBytes>(view(plain))));
    return header;
}

}  // namespace k8s_sd::inline v0::detail
