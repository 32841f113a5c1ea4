#include "scrape_loop.hpp"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

namespace scraper {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::size_t max_body_bytes = std::size_t{64} << 20;

struct Place {
    std::string authority;  ///< host and port as in the URL
    std::string host, port, path;
};

/// In vmagent's dialect a URL may have spaces and non-ASCII letters, not allowed in a request.
std::string encoded(std::string_view path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7f) {
            text += c;
        } else {
            ((text += '%') += digits[byte >> 4U]) += digits[byte & 15U];
        }
    }
    return text;
}

/// The parts of a URL made by ScrapeTarget: "http://host[:port]/path?query".
Place place_of(std::string_view url) {
    url = url.substr(0, url.find('#'));
    url.remove_prefix(url.find("//") + 2);
    const std::size_t end = std::min(url.find_first_of("/?"), url.size());
    const std::string_view authority = url.substr(0, end);
    std::string_view host = authority;
    std::string_view port = "80";
    const std::size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && !host.ends_with(']')) {
        port = host.substr(colon + 1);
        host = host.substr(0, colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    std::string path = encoded(url.substr(end));
    if (!path.starts_with('/')) path.insert(0, 1, '/');
    return {std::string(authority), std::string(host), std::string(port), std::move(path)};
}

std::size_t count_samples(std::string_view body) {
    std::size_t count = 0;
    while (!body.empty()) {
        const std::string_view line = body.substr(0, body.find('\n'));
        if (!line.empty() && !line.starts_with('#')) ++count;
        body.remove_prefix(std::min(line.size() + 1, body.size()));
    }
    return count;
}

}  // namespace

ScrapeLoop::ScrapeLoop(asio::any_io_executor executor, k8s_sd::ScrapeTargetPtr target,
                       std::string user_agent, GetToken get_token, OnResult on_result)
    : timer_(executor),
      deadline_timer_(executor),
      resolver_(executor),
      target_(std::move(target)),
      url_(target_->url()),
      user_agent_(std::move(user_agent)),
      get_token_(std::move(get_token)),
      on_result_(std::move(on_result)) {}

void ScrapeLoop::start() {
    using namespace std::chrono;
    const nanoseconds first = target_->first_scrape_after(system_clock::now());
    next_ = steady_clock::now() + duration_cast<steady_clock::duration>(first);
    wait();
}

void ScrapeLoop::stop() {
    stopped_ = true;
    timer_.cancel();
    deadline_timer_.cancel();
    resolver_.cancel();
    if (stream_) stream_->close();
}

void ScrapeLoop::wait() {
    timer_.expires_at(next_);
    timer_.async_wait([self = shared_from_this()](error_code) {
        // An error code would not suffice: an expired timer can no longer be cancelled.
        if (!self->stopped_) self->scrape();
    });
}

void ScrapeLoop::scrape() {
    started_ = std::chrono::steady_clock::now();
    // One deadline for all following steps.
    deadline_ = started_ + target_->scrape_timeout();
    if (!refusal_.empty()) return finish(refusal_);
    if (!url_.starts_with("http://")) return finish("this example scrapes http only");
    prepare_request();
    limit_preparations();
    if (!get_token_) return resolve();
    const bool refused = std::exchange(token_refused_, false);
    get_token_(refused, [self = shared_from_this(), stage = stage_](const std::string& error,
                                                                    std::string_view token) {
        if (self->is_over(stage)) return;
        if (!error.empty()) return self->finish("credentials: " + error);
        if (!token.empty()) {
            self->request_.set(http::field::authorization, "Bearer " + std::string(token));
        }
        self->resolve();
    });
}

void ScrapeLoop::prepare_request() {
    const Place place = place_of(url_);
    request_ = {http::verb::get, place.path, 11};
    request_.set(http::field::host, place.authority);
    request_.set(http::field::user_agent, user_agent_);
    request_.set(http::field::accept, "text/plain");
}

/// A stream has a deadline of its own; the steps before it have none.
void ScrapeLoop::limit_preparations() {
    deadline_timer_.expires_at(deadline_);
    deadline_timer_.async_wait([self = shared_from_this(), stage = stage_](error_code) {
        if (!self->is_over(stage)) self->finish("no address or token within the timeout");
    });
}

void ScrapeLoop::resolve() {
    // A lookup cannot be cancelled, so one of an earlier scrape may still be pending.
    if (std::exchange(resolving_, true)) return finish("resolve: still looking for the address");
    const Place place = place_of(url_);
    resolver_.async_resolve(
        place.host, place.port,
        [self = shared_from_this(), stage = stage_](error_code ec, const auto& endpoints) {
            self->resolving_ = false;
            if (self->is_over(stage)) return;
            if (ec) return self->finish("resolve: " + ec.message());
            self->connect(endpoints);
        });
}

void ScrapeLoop::connect(const asio::ip::tcp::resolver::results_type& endpoints) {
    ++stage_;
    deadline_timer_.cancel();
    stream_.emplace(timer_.get_executor());
    stream_->expires_at(deadline_);
    stream_->async_connect(endpoints, [self = shared_from_this()](error_code ec, const auto&) {
        if (self->stopped_) return;
        if (ec) return self->finish("connect: " + ec.message());
        self->send();
    });
}

void ScrapeLoop::send() {
    http::async_write(*stream_, request_, [self = shared_from_this()](error_code ec, std::size_t) {
        if (self->stopped_) return;
        if (ec) return self->finish("write: " + ec.message());
        self->receive();
    });
}

void ScrapeLoop::receive() {
    buffer_.clear();
    response_.emplace();
    response_->body_limit(max_body_bytes);
    http::async_read(*stream_, buffer_, *response_,
                     [self = shared_from_this()](error_code ec, std::size_t) {
                         if (self->stopped_) return;
                         if (ec) return self->finish("read: " + ec.message());
                         const auto status = self->response_->get().result_int();
                         const bool good = status == 200;
                         self->token_refused_ = status == 401 || status == 403;
                         self->finish(good ? "" : "HTTP status " + std::to_string(status));
                     });
}

void ScrapeLoop::finish(const std::string& error) {
    using namespace std::chrono;
    ++stage_;
    deadline_timer_.cancel();
    const steady_clock::time_point now = steady_clock::now();
    last_ = {error, error.empty() ? count_samples(response_->get().body()) : 0,
             duration_cast<microseconds>(now - started_)};
    stream_.reset();
    response_.reset();
    // Keeps its offset in the interval after a late scrape; missed scrapes are skipped.
    const steady_clock::duration interval = target_->scrape_interval();
    next_ += interval * (std::max(now - next_, steady_clock::duration(0)) / interval + 1);
    wait();
    on_result_(*last_);
}

}  // namespace scraper
