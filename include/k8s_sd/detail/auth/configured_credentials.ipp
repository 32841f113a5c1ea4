#include "k8s_sd/detail/auth/configured_credentials.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/base64.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Any field suffices: some servers take a password without a user name as a key.
bool has_basic(const AuthConfig& auth) {
    return !(auth.username.empty() && auth.username_file.empty() && auth.password.empty() &&
             auth.password_file.empty());
}

}  // namespace

ConfiguredCredentials::ConfiguredCredentials(const AuthConfig& config, asio::any_io_executor strand,
                                             std::shared_ptr<Clock> clock,
                                             std::shared_ptr<FileCalls> calls, Logger logger)
    : scheme_(config.scheme),
      texts_(std::move(strand), std::move(clock), std::move(calls), std::move(logger)) {
    const auto add = [this](const std::string& name, const std::string& value,
                            const std::string& file) {
        return texts_.add(file.empty() ? name : name + "_file", value, file);
    };
    if (!config.bearer_token.empty() || !config.bearer_token_file.empty()) {
        form_ = Form::token;
        secret_ = add("bearer_token", config.bearer_token, config.bearer_token_file);
    } else if (has_basic(config)) {
        form_ = Form::basic;
        username_ = add("username", config.username, config.username_file);
        secret_ = add("password", config.password, config.password_file);
    }
}

void ConfiguredCredentials::async_get(Refused, Handler handler) {
    texts_.async_read([this, handler = std::move(handler)] { handler(answer()); });
}

RequestCredentials ConfiguredCredentials::answer() const {
    RequestCredentials result;
    if (texts_.complete()) {
        result.value = make_header();
    } else {
        result.ec = errc::credentials_unavailable;
    }
    result.problem = texts_.problem();
    result.expiry = texts_.expiry();
    return result;
}

CleansedBytes ConfiguredCredentials::make_header() const {
    CleansedBytes header;
    if (form_ == Form::token) {
        append(header, scheme_);
        append(header, " ");
        append(header, texts_[secret_]);
    } else if (form_ == Form::basic) {
        CleansedBytes plain;
        append(plain, texts_[username_]);
        append(plain, ":");
        append(plain, texts_[secret_]);
        append(header, "Basic ");
        append(header, view(encode_base64<CleansedBytes>(view(plain))));
    }
    return header;
}

}  // namespace k8s_sd::inline v0::detail
