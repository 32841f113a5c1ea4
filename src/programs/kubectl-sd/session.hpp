#pragma once

#include "follow/list_client.hpp"
#include "http/http_server.hpp"
#include "plugin_options.hpp"
#include "program.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace kubectl_sd {

/// Asks k8s-sd once all lists are complete: a running one, or one in this process. One thread runs
/// the context.
class Session {
 public:
    /// \return the next URL, or an empty text after the last answer
    /// \throws std::runtime_error  what the answer lacks
    using OnAnswer = std::function<std::string(const boost::json::object&)>;

    /// \param url  what to ask, such as "/api/ui/object?q=web"
    /// \param on_end  called once: all is answered, or nothing more will be
    /// \throws cli::Unusable, k8s_sd::ConfigError, std::runtime_error
    Session(boost::asio::io_context&, const Question&, std::string url, OnAnswer,
            std::function<void()> on_end);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool is_answered() const noexcept { return answered_; }
    /// Why it is not answered; empty after a signal.
    const std::string& error() const noexcept { return error_; }
    /// After on_end(): cancels everything, so that the context runs out of work.
    void stop();

 private:
    void wait(std::chrono::milliseconds pause = std::chrono::milliseconds(20));
    void on_timer();
    void on_ready(const http::HttpServer::Reply&);
    void on_reply(const http::HttpServer::Reply&);
    void use(const boost::json::object& answer);
    std::string refusal(const http::HttpServer::Reply&) const;
    void ask_program(std::string_view url, const http::HttpServer::Respond&);
    void ask_there(http::HttpServer::Respond);
    void start_timeout();
    bool in_time() const { return std::chrono::steady_clock::now() < end_; }
    void fail(const std::string& text);
    void fail_late();
    void end();

    boost::asio::io_context& io_;
    const std::string from_;  ///< URL of the running k8s-sd; empty: one in this process
    const k8s_sd_program::ListClientOptions client_options_;
    std::optional<k8s_sd_program::Program> program_;
    std::optional<k8s_sd_program::ListClient> client_;
    const std::string no_tag_;
    k8s_sd_program::ListReply reply_;
    boost::asio::cancellation_signal cancel_;  ///< of the request to the running k8s-sd
    boost::asio::steady_timer timer_;
    const std::chrono::nanoseconds timeout_;       ///< of the lists
    std::chrono::steady_clock::time_point end_{};  ///< of the step that has a time limit now
    enum class Step { start, configuration, lists } step_ = Step::start;
    std::string url_;
    const OnAnswer on_answer_;
    std::function<void()> on_end_;
    std::string error_;
    bool answered_ = false;
};

}  // namespace kubectl_sd
