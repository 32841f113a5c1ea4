#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/client/status_error.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/discovery/sources/http_targets.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration min_request_interval = std::chrono::seconds(1);
constexpr Duration max_request_interval = std::chrono::hours(1);
constexpr Duration max_retry_after_honoured = std::chrono::minutes(10);
constexpr const char* interval_header = "X-Prometheus-Refresh-Interval-Seconds";

/// Shortest decimal text.
std::string interval_text(Duration interval) {
    char text[64];
    const double value = std::chrono::duration<double>(interval).count();
    const auto end =
        std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed);
    return {text, end.ptr};
}

/// Adds the header with the time until the next request.
ApiServerConfig server_with_interval(const HttpSdConfig& config) {
    ApiServerConfig server = server_of(config);
    const auto same = [](const HttpHeader& header) {
        return lower_case(header.name) == lower_case(interval_header);
    };
    if (std::none_of(server.headers.begin(), server.headers.end(), same)) {
        server.headers.push_back({interval_header, interval_text(config.interval), {}});
    }
    return server;
}

std::string without_query(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

/// Hides the query of a URL from messages, as a whole and by value: any part may be a secret.
void hide_query(std::string_view url, ApiClientImpl& api) {
    std::string_view rest = url.substr(std::min(url.find('?'), url.size()));
    if (rest.empty()) return;
    rest.remove_prefix(1);
    if (!rest.empty()) api.add_secret(rest);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view part = rest.substr(0, end);
        const std::string_view value = part.substr(std::min(part.find('=') + 1, part.size()));
        if (may_be_secret(value)) api.add_secret(value);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

/// Prometheus' rule: blanks are allowed after the semicolon only, and nothing may follow.
bool is_json_utf8(const ResponseHead& head) {
    constexpr std::string_view json = "application/json";
    const std::string type = lower_case(head.content_type_as_sent);
    if (!type.starts_with(json)) return false;
    const std::string_view rest = std::string_view(type).substr(json.size());
    if (!rest.starts_with(';')) return rest.empty();
    const std::string_view parameter = trim(rest.substr(1));
    return parameter == "charset=utf-8" || parameter == "charset=\"utf-8\"";
}

}  // namespace

HttpTargets::HttpTargets(asio::any_io_executor strand, const Environment& environment,
                         HttpSdConfig config, std::shared_ptr<SourceState> source)
    : config_(std::move(config)),
      url_(parse_list_url(config_.url)),
      place_(printable(without_query(config_.url))),
      source_(std::move(source)),
      api_(std::move(strand), server_with_interval(config_), environment),
      random_(static_cast<std::minstd_rand::result_type>(environment.seed)),
      maker_(std::make_shared<TargetGroupMaker>()) {
    hide_query(config_.url, api_);
}

void HttpTargets::start() {
    asio::post(api_.executor, [self = shared_from_this()] {
        self->timer_ = self->api_.environment.clock->make_timer(self->api_.executor);
        self->request_ = std::make_shared<ShortRequest>(self->api_);
        self->ask();
    });
}

void HttpTargets::stop() noexcept {
    end_post_.post(api_.executor, [self = shared_from_this()] {
        self->timer_.reset();
        self->request_.reset();
        self->pending_answer_.cancel();
    });
}

void HttpTargets::ask() {
    path_ = url_.path;
    end_ = api_.environment.clock->now() +
           std::clamp(config_.interval, min_request_interval, max_request_interval);
    redirects_ = 0;
    ask_again();
}

void HttpTargets::ask_again() {
    api_.environment.metrics->target_list_requests.fetch_add(1, std::memory_order_relaxed);
    request_->start(path_, config_.max_bytes, end_ - api_.environment.clock->now(),
                    [this](const ShortRequest::Answer& answer) { on_answer(answer); });
}

void HttpTargets::on_answer(const ShortRequest::Answer& answer) {
    if (!answer.ec && follow(answer.head)) return ask_again();
    judge(answer);
}

bool HttpTargets::follow(const ResponseHead& head) {
    constexpr unsigned followed[] = {301, 302, 303, 307, 308};
    constexpr unsigned max_redirects = 10;
    const bool redirect =
        std::find(std::begin(followed), std::end(followed), head.status) != std::end(followed);
    if (!redirect || !config_.follow_redirects || redirects_ == max_redirects) return false;
    auto path = redirected_path(url_.server, path_, head.location);
    if (!path) return false;
    ++redirects_;
    path_ = std::move(*path);
    return true;
}

void HttpTargets::judge(const ShortRequest::Answer& answer) {
    retry_after_ = answer.head.retry_after.value_or(Duration{});
    const std::optional<Problem> problem = problem_of(answer);
    problem ? fail(*problem) : read(answer.body);
}

std::optional<HttpTargets::Problem> HttpTargets::problem_of(
    const ShortRequest::Answer& answer) const {
    const ResponseHead& head = answer.head;
    if (answer.ec) {
        const std::string& text = answer.problem;
        return Problem{answer.ec, text.empty() ? answer.ec.message() : text};
    }
    if (head.status != 200) return problem_of_status(answer);
    if (!head.content_encoding.empty()) {
        return Problem{errc::unexpected_encoding,
                       "the answer is compressed (" + head.content_encoding.text() + ")"};
    }
    if (rules_of(config_.dialect).refuses_bad_target_lists && !is_json_utf8(head)) {
        const std::string& sent = head.content_type_as_sent.text();
        const std::string type = sent.empty() ? "nothing" : printable(sent);
        return Problem{errc::unexpected_content_type,
                       "the answer has the type " + type +
                           "; it must be application/json, optionally with \"; charset=utf-8\""};
    }
    if (answer.cut) {
        return Problem{errc::target_list_too_large, "the answer is larger than max_bytes (" +
                                                        std::to_string(config_.max_bytes) + ")"};
    }
    return std::nullopt;
}

HttpTargets::Problem HttpTargets::problem_of_status(const ShortRequest::Answer& answer) const {
    const unsigned status = answer.head.status;
    std::string text = "HTTP " + std::to_string(status);
    if (status >= 300 && status < 400) {
        text += redirects_ > 0 ? ", too many redirects" : ", a redirect, which is not followed";
        text += "; set url to the address of the list";
    } else if (redirects_ == 0 && answer.head.content_encoding.empty()) {
        // After a redirect the message may contain the query of the new URL.
        const std::string message = read_foreign_error(answer.body);
        if (!message.empty()) text += ": " + message;
    }
    if (status == 401 && !answer.credentials_problem.empty()) {
        text += "; " + answer.credentials_problem;
    }
    return {error_of_status(status), std::move(text)};
}

/// Parses in another thread: a long list takes time.
void HttpTargets::read(const std::string& body) {
    const std::size_t hash = seeded_hash(body);
    if (hash_ == hash) return on_read(std::nullopt, hash);
    using Result = std::optional<Problem>;
    const std::function<Result()> work = [text = std::make_shared<const std::string>(body),
                                          config = config_, maker = maker_,
                                          source = source_]() -> Result {
        try {
            TargetLists lists = parse_http_list(*text, rules_of(config.dialect),
                                                {config.max_targets, config.max_bytes});
            source->set(make_groups(std::move(lists),
                                    {without_query(config.url), "__meta_url", config.url}, *maker));
            return std::nullopt;
        } catch (const std::exception& e) {
            return Problem{errc::malformed_response, e.what()};
        }
    };
    pending_answer_ = async_elsewhere<Result>(
        api_.executor, api_.environment.file_calls, work,
        [work](const std::string&) { return work(); },
        [weak = weak_from_this(), hash](const Result& problem) {
            const auto self = weak.lock();
            if (self && self->request_) self->on_read(problem, hash);
        });
}

void HttpTargets::on_read(const std::optional<Problem>& problem, std::size_t hash) {
    pending_answer_.cancel();
    if (problem) return fail(*problem);
    hash_ = hash;
    failures_ = 0;
    source_->fail({}, {});
    ask_later(config_.interval);
}

void HttpTargets::fail(const Problem& problem) {
    api_.environment.metrics->target_list_failures.fetch_add(1, std::memory_order_relaxed);
    source_->fail(problem.error, place_ + ": " + api_.redact(problem.text));
    ++failures_;
    ask_later(wait_after_failure());
}

/// Waits a little less, at random, to spread requests that began together.
void HttpTargets::ask_later(Duration wait) {
    const auto tenth = wait / 10;
    const Duration early(std::uniform_int_distribution<Duration::rep>(0, tenth.count())(random_));
    const TimePoint now = api_.environment.clock->now();
    timer_->expires_at(due_after(now, std::max(wait - early, min_request_interval)),
                       [weak = weak_from_this()] {
                           const auto self = weak.lock();
                           if (self && self->request_) self->ask();
                       });
}

/// Starts short, because a failed target list is often available a moment later.
Duration HttpTargets::wait_after_failure() const {
    const Duration doubled = std::chrono::seconds(2) * (1 << std::min(failures_ - 1, 10U));
    const Duration wait = std::min(doubled, config_.interval);
    return std::max(wait, std::min(retry_after_, max_retry_after_honoured));
}

}  // namespace k8s_sd::inline v0::detail
