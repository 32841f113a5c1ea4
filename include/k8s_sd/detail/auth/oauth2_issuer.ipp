#include "k8s_sd/detail/auth/connect_targets.hpp"
#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/text/user_agent.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"

#include <boost/json/object.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_token_answer_bytes = std::size_t{1} << 20;
constexpr Duration token_service_timeout = std::chrono::seconds(30);

/// A number, or a string with a number; nullopt: missing, or infinite.
std::optional<std::chrono::seconds> expires_in(const boost::json::object& object) {
    const boost::json::value* value = object.if_contains("expires_in");
    double seconds = 0;
    if (value && value->is_number()) {
        seconds = value->to_number<double>();
    } else if (value && value->is_string()) {
        seconds = parse_decimal(json_text(object, "expires_in")).value_or(0);
    }
    constexpr double max_seconds = 1e9;
    if (!(seconds >= 1)) return std::nullopt;
    return std::chrono::seconds(static_cast<std::int64_t>(std::min(seconds, max_seconds)));
}

/// The text as it is in a form.
CleansedBytes form_text(std::string_view text) {
    std::string escaped;
    escaped.reserve(3 * text.size());
    append_query_text(escaped, text);
    CleansedBytes result;
    append(result, escaped);
    cleanse(escaped.data(), escaped.size());
    return result;
}

IssuedCredentials no_service_token(std::string problem) {
    IssuedCredentials none;
    none.problem = std::move(problem);
    return none;
}

/// Whether a parameter names what the token is for. Messages need short values of these; any other
/// one may be a password or a PIN.
bool is_public_parameter(std::string_view name) {
    static constexpr std::string_view names[] = {"audience", "realm", "resource", "scope",
                                                 "tenant"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

OAuth2Issuer::OAuth2Issuer(const OAuth2Config& config, asio::any_io_executor strand,
                           const Environment& environment)
    : config_(config),
      strand_(std::move(strand)),
      clock_(environment.clock),
      texts_(strand_, clock_, environment.file_calls, environment.logger),
      connection_(strand_, environment.connector, clock_),
      timer_(clock_->make_timer(strand_)) {
    const UrlWithPath url = parse_url_with_path(config_.token_url);
    target_ = make_connect_target(url.server, config_.tls, config_.proxy);
    authority_ = authority(url.server);
    path_ = url.path;
    texts_.add(config_.client_secret_file.empty() ? "oauth2.client_secret"
                                                  : "oauth2.client_secret_file",
               config_.client_secret, config_.client_secret_file);
    for (const HttpHeader& header : config_.headers) {
        texts_.add("oauth2 header " + header.name, header.value, header.file);
    }
}

OAuth2Issuer::~OAuth2Issuer() { timer_->cancel(); }

void OAuth2Issuer::async_issue(bool, Handler handler) {
    handler_ = std::move(handler);
    texts_.async_read([this] {
        if (!texts_.complete()) return fail(texts_.problem());
        timer_->expires_at(clock_->now() + token_service_timeout,
                           [this] { fail("it did not answer in 30 s"); });
        post(style_);
    });
}

void OAuth2Issuer::post(Style style) {
    HttpRequest request;
    request.text = request_text(style);
    request.connect_timeout = request.idle_timeout = token_service_timeout;
    request.idle_error = errc::response_timeout;
    request.secret_body = true;
    response_.emplace(max_token_answer_bytes);
    // Between such rare requests the service closes the connection.
    connection_.close();
    connection_.async_send(
        target_, std::move(request), *response_,
        [this, style](error_code ec, const std::string& why) { on_response(style, ec, why); });
}

std::string OAuth2Issuer::request_text(Style style) const {
    std::string body = form(style);
    std::string text;
    // Reserve everything: a reallocation would leave copies of a secret behind.
    std::size_t size = 512 + path_.size() + authority_.size() + body.size() +
                       4 * (config_.client_id.size() + texts_[0].size());
    for (std::size_t i = 0; i < config_.headers.size(); ++i) {
        size += config_.headers[i].name.size() + texts_[i + 1].size() + 4;
    }
    text.reserve(size);
    (((text += "POST ") += path_) += " HTTP/1.1\r\nHost: ") += authority_;
    (text += "\r\n") += user_agent_line;
    text += "Accept: application/json\r\nAccept-Encoding: identity"
            "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ";
    (text += std::to_string(body.size())) += "\r\n";
    if (style == Style::header)
        ((text += "Authorization: ") += view(basic_authorization())) += "\r\n";
    for (std::size_t i = 0; i < config_.headers.size(); ++i) {
        (((text += config_.headers[i].name) += ": ") += texts_[i + 1]) += "\r\n";
    }
    (text += "\r\n") += body;
    cleanse(body.data(), body.size());
    return text;
}

CleansedBytes OAuth2Issuer::basic_authorization() const {
    CleansedBytes plain = form_text(config_.client_id);
    append(plain, ":");
    append(plain, view(form_text(texts_[0])));
    CleansedBytes value;
    append(value, "Basic ");
    append(value, view(encode_base64<CleansedBytes>(view(plain))));
    return value;
}

std::string OAuth2Issuer::form(Style style) const {
    std::map<std::string, std::string> fields = config_.endpoint_params;
    fields.emplace("grant_type", "client_credentials");
    if (!config_.scopes.empty()) fields.emplace("scope", join(config_.scopes, " "));
    std::string text;
    // Reserve enough for fully escaped values.
    std::size_t size = 64 + 3 * (config_.client_id.size() + texts_[0].size());
    for (const auto& [name, value] : fields) size += 3 * (name.size() + value.size()) + 2;
    text.reserve(size);
    const auto add = [&text](std::string_view name, std::string_view value) {
        if (!text.empty()) text += '&';
        append_query_text(text, name);
        text += '=';
        append_query_text(text, value);
    };
    if (style == Style::body) {
        add("client_id", config_.client_id);
        if (!texts_[0].empty()) add("client_secret", texts_[0]);
    }
    for (const auto& [name, value] : fields) add(name, value);
    return text;
}

void OAuth2Issuer::on_response(Style style, error_code ec, const std::string& why) {
    if (ec == errc::object_too_large) return fail("it answered more than 1 MiB");
    if (ec) return fail(redact(why));
    const unsigned status = response_->head().status;
    const bool refused = status == 400 || status == 401;
    if (refused && style == style_)
        return post(style == Style::header ? Style::body : Style::header);
    if (status < 200 || status > 299) return fail(problem_of_status());
    IssuedCredentials issued = read_answer();
    if (!issued.problem.empty()) return fail(redact(issued.problem));
    style_ = style;
    finish(std::move(issued));
}

IssuedCredentials OAuth2Issuer::read_answer() const {
    const CleansedJson json(response_->body());
    const boost::json::object* object = json.value().if_object();
    if (!object) {
        return no_service_token("it answered " + printable(response_->head().content_type) +
                                " that is not a JSON object; is this the token_url?");
    }
    const std::string_view type = json_text(*object, "token_type");
    if (!type.empty() && lower_case(type) != "bearer") {
        return no_service_token("it returned a token of the type " +
                                in_quotes(redact_tokens(printable(type))) + " instead of Bearer");
    }
    IssuedCredentials issued;
    append(issued.token, json_text(*object, "access_token"));
    if (issued.token.empty()) return no_service_token("its answer has no access_token");
    issued.lifetime = expires_in(*object);
    return issued;
}

std::string OAuth2Issuer::problem_of_status() const {
    const unsigned status = response_->head().status;
    std::string problem = "it answered HTTP " + std::to_string(status);
    if (status >= 300 && status < 400) {
        return problem + ", a redirect, which is not followed; set token_url to its destination";
    }
    const std::string message = read_foreign_error(response_->body());
    return message.empty() ? problem : problem + ": " + printable(redact(message));
}

/// Services quote parameters as they were sent, or decoded.
std::string OAuth2Issuer::redact(std::string text) const {
    std::vector<CleansedBytes> secrets;
    if (!texts_[0].empty()) {
        secrets = secrets_of(basic_authorization());
        append(secrets.emplace_back(), texts_[0]);
    }
    for (std::size_t i = 0; i < config_.headers.size(); ++i) {
        if (may_be_secret(texts_[i + 1])) append(secrets.emplace_back(), texts_[i + 1]);
    }
    for (const auto& [name, value] : config_.endpoint_params) {
        if (value.empty() || (is_public_parameter(name) && !may_be_secret(value))) continue;
        append(secrets.emplace_back(), value);
        secrets.push_back(form_text(value));
    }
    return detail::redact(std::move(text), secrets);
}

void OAuth2Issuer::finish(IssuedCredentials issued) {
    timer_->cancel();
    connection_.close();
    std::exchange(handler_, nullptr)(std::move(issued));
}

void OAuth2Issuer::fail(const std::string& problem) {
    finish(no_service_token("oauth2 token_url " + authority_ + ": " + problem));
}

}  // namespace k8s_sd::inline v0::detail
