#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/short_get.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

ShortGet::ShortGet(ApiClientImpl& api)
    : api_(api),
      connection_(api.make_connection()),
      timer_(api.environment.clock->make_timer(api.executor)) {}

void ShortGet::start(std::string_view path, std::size_t most, Duration timeout, Handler handler) {
    cancel();
    most_ = most;
    timeout_ = timeout;
    answer_ = {};
    handler_ = std::move(handler);
    timer_->expires_at(api_.environment.clock->now() + timeout, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(self->timeout_).count();
        self->finish(errc::response_timeout, "no answer within " + std::to_string(seconds) + " s");
    });
    api_.async_get_credentials([weak = weak_from_this(), path = std::string(path),
                                question = ++questions_](const RequestCredentials& credentials) {
        const auto self = weak.lock();
        if (self && self->handler_ && self->questions_ == question) self->send(credentials, path);
    });
}

void ShortGet::send(const RequestCredentials& credentials, const std::string& path) {
    if (credentials.ec) return finish(credentials.ec, credentials.problem);
    answer_.credentials_problem = credentials.problem;
    answer_.credentials = credentials.revision;
    HttpRequest request = api_.make_request(path, credentials);
    request.connect_timeout = request.idle_timeout = timeout_;
    request.idle_error = errc::response_timeout;
    connection_->async_send(
        api_.target_for(credentials), std::move(request), *this,
        [this](error_code ec, std::string problem) { finish(ec, std::move(problem)); });
}

void ShortGet::on_head(const ResponseHead& head) {
    answer_.head = head;
    if (head.status != 200) most_ = short_body;
    if (most_ == no_body) finish({}, {});
}

error_code ShortGet::on_body(std::string_view bytes) {
    answer_.cut = bytes.size() > most_ - answer_.body.size();
    answer_.body += bytes.substr(0, most_ - answer_.body.size());
    if (!answer_.cut) return {};
    finish({}, {});  // the handler may destroy this object
    return asio::error::operation_aborted;
}

void ShortGet::finish(error_code ec, std::string problem) {
    const auto self = shared_from_this();
    const Handler handler = std::exchange(handler_, nullptr);
    cancel();
    answer_.ec = ec;
    answer_.problem = std::move(problem);
    const Answer answer = std::exchange(answer_, {});
    handler(answer);  // it may start the next one
}

void ShortGet::cancel() noexcept {
    handler_ = nullptr;
    timer_->cancel();
    connection_->close();
}

}  // namespace k8s_sd::inline v0::detail
