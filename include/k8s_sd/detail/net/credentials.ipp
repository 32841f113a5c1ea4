#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/net/credentials.hpp"

#include <chrono>

namespace k8s_sd::inline v0::detail {

namespace {

/// Prometheus and client-go re-read token files about once a minute.
constexpr Duration max_age = std::chrono::seconds(60);

}  // namespace

Credentials::Credentials(const AuthConfig& config) : username_(config.username) {
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

std::string Credentials::authorization(TimePoint now, error_code& ec, std::string& problem) {
    if (!file_.empty() && stale(now)) load(now);
    const bool usable = scheme_ == Scheme::none || !header_.empty();
    ec = usable ? error_code() : errc::credentials_unavailable;
    problem = problem_;
    return std::string(view(header_));
}

bool Credentials::refresh(TimePoint now) { return !file_.empty() && load(now); }

bool Credentials::stale(TimePoint now) const noexcept {
    return !read_at_ || now - *read_at_ >= max_age;
}

/// After a failure the file is tried again with the next request: it may be half written.
bool Credentials::load(TimePoint now) {
    read_at_.reset();
    std::string reason;
    const auto content = read_secret_file(file_, reason);
    if (!content) {
        problem_ = field_ + ": " + reason;
        return false;
    }
    const std::string_view value = trim(view(*content));
    if (value.empty()) {
        problem_ = field_ + ": it is empty";
        return false;
    }
    const bool changed = accept(value);
    if (problem_.empty()) read_at_ = now;
    return changed;
}

/// True when the header is different now.
bool Credentials::accept(std::string_view value) {
    if (!is_header_text(value) || !is_header_text(username_)) {
        problem_ = field_ + ": it contains a line break or another control character";
        return false;
    }
    problem_.clear();
    CleansedBytes header = make_header(value);
    header_.swap(header);
    return header_ != header;
}

CleansedBytes Credentials::make_header(std::string_view value) const {
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
