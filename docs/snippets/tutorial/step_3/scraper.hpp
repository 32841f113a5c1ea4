#pragma once

#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace http = boost::beast::http;

/// Pods have addresses, so there is no name to resolve. IPv4 only.
inline asio::ip::tcp::endpoint endpoint_of(std::string_view address) {
    const std::size_t colon = address.find(':');
    unsigned short port = 80;
    if (colon != std::string_view::npos)
        std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    return {asio::ip::make_address(address.substr(0, colon)), port};
}

inline asio::awaitable<std::string> fetch(const k8s_sd::ScrapeTarget& target) {
    const auto executor = co_await asio::this_coro::executor;
    boost::beast::tcp_stream stream(executor);
    stream.expires_after(target.scrape_timeout());
    co_await stream.async_connect(endpoint_of(target.get("__address__")), asio::use_awaitable);
    http::request<http::empty_body> request(http::verb::get,
                                            std::string(target.get("__metrics_path__")), 11);
    request.set(http::field::host, std::string(target.get("__address__")));
    co_await http::async_write(stream, request, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    co_await http::async_read(stream, buffer, response, asio::use_awaitable);
    co_return response.body();
}

/// Scrapes until cancelled.
inline asio::awaitable<void> scrape_loop(k8s_sd::ScrapeTargetPtr target) {
    using std::chrono::steady_clock;
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    auto next =
        steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                  target->first_scrape_after(std::chrono::system_clock::now()));
    while (true) {
        timer.expires_at(next);
        co_await timer.async_wait(asio::use_awaitable);
        std::string error;
        try {
            const std::string body = co_await fetch(*target);
            std::cout << target->get("pod") << ": " << body << std::flush;
        } catch (const boost::system::system_error& e) {
            if (e.code() == asio::error::operation_aborted) throw;
            error = e.what();
        }
        if (!error.empty()) std::cout << target->get("pod") << ": " << error << std::endl;
        next += target->scrape_interval();
    }
}

/// Starts a loop for each target, and cancels it.
class Scraper final : public k8s_sd::TargetHandler {
 public:
    explicit Scraper(asio::io_context& io) : io_(io) {}

    void start(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept override {
        std::cout << "start " << target->get("pod") << ": " << target->url() << std::endl;
        const auto cancel = std::make_shared<asio::cancellation_signal>();
        loops_[id] = cancel;
        // The handler owns the signal: it must outlive the coroutine.
        const auto on_end = [cancel](std::exception_ptr) {};
        asio::co_spawn(io_, scrape_loop(target),
                       asio::bind_cancellation_slot(cancel->slot(), on_end));
    }
    void stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
              k8s_sd::StopReason) noexcept override {
        std::cout << "stop " << target->get("pod") << std::endl;
        loops_.extract(id).mapped()->emit(asio::cancellation_type::terminal);
    }
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}

 private:
    asio::io_context& io_;
    std::map<k8s_sd::TargetId, std::shared_ptr<asio::cancellation_signal>> loops_;
};
