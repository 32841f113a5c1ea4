#pragma once

#include "http/http_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace scraper {

/// The accepted tokens of requests: two of them, so clients have time to get a new one.
struct AcceptedTokens {
    std::string current, previous;
    bool accepts(std::string_view authorization) const {
        return authorization == "Bearer " + current || authorization == "Bearer " + previous;
    }
};

/// A scrape target: responds on a free port of 127.0.0.1 to every GET with a few metrics, or with
/// 401. For one thread.
class MetricsServer {
 public:
    /// \param tokens  null: no token required
    MetricsServer(const boost::asio::any_io_executor&, std::string name,
                  std::shared_ptr<const AcceptedTokens> tokens);
    ~MetricsServer() { server_->stop(); }
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    unsigned short port() const { return server_->endpoint().port(); }

 private:
    http::HttpServer::Reply answer(std::string_view authorization);
    std::string metrics();

    const std::string name_;
    const std::shared_ptr<const AcceptedTokens> tokens_;
    const std::shared_ptr<http::HttpServer> server_;
    std::size_t scrapes_ = 0;
};

}  // namespace scraper
