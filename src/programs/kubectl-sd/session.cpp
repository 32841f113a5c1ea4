#include "session.hpp"

#include "cli/signals.hpp"
#include "cli/terminal_text.hpp"
#include "follow/list_source.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/json/parse.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kubectl_sd {

namespace json = boost::json;
using http::HttpServer;

namespace {

/// The credentials for a running k8s-sd.
k8s_sd_program::ListClientOptions client_options(const k8s_sd::ApiServerConfig& server) {
    return {.ca_file = server.tls.ca_file,
            .cert_file = server.tls.cert_file,
            .key_file = server.tls.key_file,
            .token_file = server.auth.bearer_token_file};
}

/// Whether an object is unknown, and a job has not listed everything yet.
bool may_be_found_later(const json::object& answer) {
    const json::value* found = answer.if_contains("found");
    const json::value* jobs = answer.if_contains("jobs");
    if (!found || *found != false || !jobs || !jobs->is_array()) return false;
    return std::any_of(jobs->get_array().begin(), jobs->get_array().end(), [](const auto& job) {
        const json::object* object = job.if_object();
        const json::value* complete = object ? object->if_contains("complete") : nullptr;
        return complete && *complete == false;
    });
}

std::optional<std::string> error_in(const json::value& answer) {
    const json::object* object = answer.if_object();
    const json::value* error = object ? object->if_contains("error") : nullptr;
    const json::string* text = error ? error->if_string() : nullptr;
    if (!text) return std::nullopt;
    return std::string(std::string_view(*text));
}

}  // namespace

Session::Session(boost::asio::io_context& io, const Question& question, std::string url,
                 OnAnswer on_answer, std::function<void()> on_end)
    : io_(io),
      from_(question.from),
      client_options_(client_options(question.discovery.server.api_server)),
      timer_(io),
      timeout_(question.timeout),
      url_(std::move(url)),
      on_answer_(std::move(on_answer)),
      on_end_(std::move(on_end)) {
    if (from_.empty()) program_.emplace(io, question.discovery);
    wait();
}

void Session::wait(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([this](boost::system::error_code ec) {
        if (!ec) on_timer();
    });
}

void Session::on_timer() {
    // A signal reaches one of several programs.
    if (cli::Signals::end_is_wanted()) return end();
    const auto on_answer = [this](const HttpServer::Reply& reply) { on_reply(reply); };
    start_timeout();
    if (!program_) return ask_there(on_answer);
    if (program_->is_configured()) {
        return ask_program("/readyz", [this](const HttpServer::Reply& reply) { on_ready(reply); });
    }
    if (in_time()) return wait();
    fail("the configuration has not been read in time");
}

/// Programs are constructed one after the other, and a busy machine reads files late: the time for
/// lists begins once there is a configuration.
void Session::start_timeout() {
    const bool lists = !program_ || program_->is_configured();
    const Step step = lists ? Step::lists : Step::configuration;
    if (std::exchange(step_, step) == step) return;
    const std::chrono::nanoseconds for_file = std::chrono::seconds(30);
    end_ = std::chrono::steady_clock::now() + (lists ? timeout_ : std::max(timeout_, for_file));
}

void Session::on_ready(const HttpServer::Reply& reply) {
    if (reply.status == 200) {
        return ask_program(url_, [this](const HttpServer::Reply& answer) { on_reply(answer); });
    }
    if (in_time()) return wait();
    std::string text = "not everything has been listed in time:";
    std::istringstream lines(reply.body ? *reply.body : std::string());
    for (std::string line; std::getline(lines, line);) text += '\n' + line;
    fail(text);
}

void Session::on_reply(const HttpServer::Reply& reply) {
    boost::system::error_code invalid;
    const json::value parsed = json::parse(reply.body ? *reply.body : std::string("{}"), invalid);
    if (reply.status != 200) return fail(error_in(parsed).value_or(refusal(reply)));
    if (!parsed.is_object()) return fail(from_ + " is no k8s-sd: its answer is no JSON object");
    use(parsed.get_object());
}

void Session::use(const json::object& answer) {
    const json::value* flag = answer.if_contains("complete");
    const bool complete = flag && *flag == true;
    // Tables of targets are made after the first question.
    if (!complete && in_time()) return wait();
    // A running k8s-sd is not asked whether it is ready.
    if (!program_ && may_be_found_later(answer) && in_time()) {
        return wait(std::chrono::milliseconds(500));
    }
    std::string next;
    try {
        next = on_answer_(answer);
    } catch (const std::runtime_error& e) {
        return fail(from_ + " is no k8s-sd: " + e.what());
    }
    if (next == url_) return fail(from_ + " is no k8s-sd: it repeats a page of its answer");
    url_ = std::move(next);
    if (!url_.empty()) return program_ || in_time() ? wait() : fail_late();
    answered_ = true;
    end();
}

/// An answer that has no error in JSON.
std::string Session::refusal(const HttpServer::Reply& reply) const {
    const std::string body = reply.body ? *reply.body : std::string();
    const std::string status = std::to_string(reply.status);
    // Those of k8s-sd are plain text.
    if (reply.status == 404 || body.empty() || body.starts_with('<')) {
        return from_ + " is no k8s-sd: it answers with status " + status;
    }
    std::string text = from_ + ": status " + status + ": ";
    text += cli::printable(std::string_view(body).substr(0, body.find('\n')), 200);
    if (reply.status == 401) text += "; --token-file FILE has the token";
    return text;
}

/// Asks the running k8s-sd.
void Session::ask_there(HttpServer::Respond respond) {
    const std::string base = from_.substr(0, from_.find_last_not_of('/') + 1);
    client_.emplace(io_.get_executor(), k8s_sd_program::read_list_source("answer=" + base + url_),
                    client_options_);
    // The client has limits of its own, for waiting readers: they are minutes. The last answer may
    // come after the end: it says what is missing.
    timer_.expires_at(std::max(end_, std::chrono::steady_clock::now() + timeout_));
    timer_.async_wait([this](boost::system::error_code ec) {
        if (!ec) fail_late();
    });
    const auto on_response = [this,
                              respond = std::move(respond)](const std::exception_ptr& problem) {
        if (!on_end_) return;  // it has failed
        if (!problem) {
            return respond(
                {.status = reply_.status, .body = std::make_shared<std::string>(reply_.body)});
        }
        try {
            std::rethrow_exception(problem);
        } catch (const std::exception& e) {
            fail(from_ + ": " + k8s_sd::in_words(e));
        }
    };
    boost::asio::co_spawn(io_, client_->get(no_tag_, reply_),
                          boost::asio::bind_cancellation_slot(cancel_.slot(), on_response));
}

void Session::ask_program(std::string_view url, const HttpServer::Respond& respond) {
    const std::size_t end = std::min(url.find('?'), url.size());
    const HttpServer::Client client{.address = "127.0.0.1"};
    const boost::beast::http::fields headers;
    program_->routes()({"GET",
                        url.substr(0, end),
                        end < url.size() ? url.substr(end + 1) : std::string_view(),
                        {},
                        client,
                        headers},
                       respond);
}

void Session::fail_late() { fail(from_ + " has not answered in time"); }

/// \param text  may have the texts of servers
void Session::fail(const std::string& text) {
    if (!on_end_) return;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!error_.empty()) error_ += '\n';
        error_ += cli::printable(line, 2000);
    }
    end();
}

void Session::end() {
    timer_.cancel();
    if (const auto on_end = std::exchange(on_end_, nullptr)) on_end();
}

void Session::stop() {
    timer_.cancel();
    cancel_.emit(boost::asio::cancellation_type::terminal);
    if (program_ && !program_->is_ended()) program_->stop("answered");
}

}  // namespace kubectl_sd
