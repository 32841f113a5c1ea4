#pragma once

#include "k8s_sd/scrape/scrape_target.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace scraper {

/// Receives an error in words, or a token.
using TokenHandler = std::function<void(const std::string& error, std::string_view token)>;
/// `refused`: the target refused the token of the last scrape.
using GetToken = std::function<void(bool refused, const TokenHandler&)>;

/// The result of a scrape.
struct ScrapeResult {
    std::string error;        ///< empty: the target is up
    std::size_t samples = 0;  ///< lines of the response without comments
    std::chrono::microseconds took{};
};

/// Scrapes one target at its interval until stopped. For one thread.
class ScrapeLoop : public std::enable_shared_from_this<ScrapeLoop> {
 public:
    using OnResult = std::function<void(const ScrapeResult&)>;

    /// \param user_agent  value of the User-Agent header
    /// \param get_token   called for each scrape; empty: the target needs no token
    ScrapeLoop(boost::asio::any_io_executor, k8s_sd::ScrapeTargetPtr, std::string user_agent,
               GetToken get_token, OnResult);

    void start();
    /// Ends a running scrape; `on_result` is not called any more.
    void stop();
    /// Fails every scrape with this reason; empty: scrapes normally.
    void refuse(const std::string& reason) { refusal_ = reason; }

    const std::string& url() const noexcept { return url_; }
    const k8s_sd::ScrapeTargetPtr& target() const noexcept { return target_; }
    /// Replaces the target by an equal one with new discovered labels.
    void set_target(k8s_sd::ScrapeTargetPtr target) { target_ = std::move(target); }
    const std::optional<ScrapeResult>& last() const noexcept { return last_; }

 private:
    void wait();
    void scrape();
    void prepare_request();
    void limit_preparations();
    bool is_over(std::uint64_t stage) const noexcept { return stopped_ || stage != stage_; }
    void resolve();
    void connect(const boost::asio::ip::tcp::resolver::results_type&);
    void send();
    void receive();
    void finish(const std::string& error);

    boost::asio::steady_timer timer_;
    boost::asio::steady_timer deadline_timer_;
    boost::asio::ip::tcp::resolver resolver_;
    bool resolving_ = false;
    std::optional<boost::beast::tcp_stream> stream_;
    boost::beast::flat_buffer buffer_;
    boost::beast::http::request<boost::beast::http::empty_body> request_;
    std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> response_;
    std::chrono::steady_clock::time_point next_;  // time of the present scrape, or the next one
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point deadline_;
    std::uint64_t stage_ = 0;  // handlers of earlier stages are ignored
    k8s_sd::ScrapeTargetPtr target_;
    const std::string url_;
    std::string refusal_;
    const std::string user_agent_;
    GetToken get_token_;
    bool token_refused_ = false;
    OnResult on_result_;
    std::optional<ScrapeResult> last_;
    bool stopped_ = false;
};

}  // namespace scraper
