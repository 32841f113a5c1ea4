#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/asio/error.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

ShortRequest::ShortRequest(ApiClientImpl& api)
    : api_(api),
      connection_(api.make_connection()),
      timer_(api.environment.clock->make_timer(api.executor)) {}

template <class Method>
auto ShortRequest::guarded(Method method) {
    return [weak = weak_from_this(), request_number = request_number_,
            method](const auto&... results) {
        const auto self = weak.lock();
        if (self && self->handler_ && self->request_number_ == request_number)
            ((*self).*method)(results...);
    };
}

void ShortRequest::start(std::string_view path, std::size_t max_body, Duration timeout,
                         Handler handler) {
    cancel();
    method_.clear();
    path_ = path;
    max_body_ = max_body;
    begin(timeout, std::move(handler));
}

void ShortRequest::start_write(std::string_view method, std::string_view path, std::string body,
                               Duration timeout, Handler handler) {
    cancel();
    method_ = method;
    path_ = path;
    body_ = std::move(body);
    max_body_ = short_body;
    begin(timeout, std::move(handler));
}

void ShortRequest::begin(Duration timeout, Handler handler) {
    ++request_number_;
    timeout_ = timeout;
    renewed_ = waits_to_connect_ = false;
    handler_ = std::move(handler);
    timer_->expires_at(api_.environment.clock->now() + timeout, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_timeout();
    });
    ask();
}

void ShortRequest::ask() {
    answer_ = {};
    api_.async_get_credentials(guarded(&ShortRequest::send));
}

void ShortRequest::send(const RequestCredentials& credentials) {
    if (credentials.ec) return finish(credentials.ec, credentials.problem);
    sent_with_ = credentials.revision;
    answer_.credentials_problem = credentials.problem;
    HttpRequest request = method_.empty() ? api_.make_request(path_, credentials)
                                          : api_.make_write(method_, path_, body_, credentials);
    request.connect_timeout = request.idle_timeout = timeout_;
    request.idle_error = errc::response_timeout;
    request.urgency = PermitQueue::Urgency::urgent;
    request.http2 = http2_use(api_.http_version(), RequestKind::brief);
    connection_.async_send(
        api_.target_for(credentials), std::move(request), *this,
        [this](error_code ec, std::string problem) { on_end(ec, std::move(problem)); });
}

void ShortRequest::on_end(error_code ec, std::string problem) {
    if (ec || answer_.head.status != 401 || std::exchange(renewed_, true))
        return finish(ec, std::move(problem));
    connection_.close();
    api_.async_refresh_credentials(sent_with_, guarded(&ShortRequest::on_renewed));
}

void ShortRequest::on_timeout() {
    std::string problem = "no response within " + seconds_text(timeout_);
    if (waits_to_connect_) {
        problem += "; it waited while other connections to the server were being established "
                   "(ServerLimits::concurrent_connects)";
    }
    finish(errc::response_timeout, std::move(problem));
}

void ShortRequest::on_renewed(bool changed) { changed ? ask() : finish({}, {}); }

void ShortRequest::on_head(const ResponseHead& head) {
    answer_.head = head;
    if (head.status == 200 && max_body_ == no_body) finish({}, {});
}

error_code ShortRequest::on_body(std::string_view bytes) {
    const std::size_t max_body = answer_.head.status == 200 ? max_body_ : short_body;
    answer_.cut = bytes.size() > max_body - answer_.body.size();
    answer_.body += bytes.substr(0, max_body - answer_.body.size());
    if (!answer_.cut) return {};
    on_end({}, {});  // the handler may destroy this object
    return asio::error::operation_aborted;
}

void ShortRequest::finish(error_code ec, std::string problem) {
    const auto self = shared_from_this();
    const Handler handler = std::exchange(handler_, nullptr);
    cancel();
    answer_.ec = ec;
    answer_.problem = std::move(problem);
    const Answer answer = std::exchange(answer_, {});
    handler(answer);  // it may start the next request
}

void ShortRequest::cancel() noexcept {
    handler_ = nullptr;
    timer_->cancel();
    connection_.close();
}

}  // namespace k8s_sd::inline v0::detail
