#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace scraper {

/// What a request has to show: one of two tokens, so that clients have time to learn of a new one.
struct AcceptedTokens {
    std::string current, previous;
    bool accepts(std::string_view authorization) const {
        return authorization == "Bearer " + current || authorization == "Bearer " + previous;
    }
};

/// An HTTP server on a free port of 127.0.0.1 that answers every GET with a few metrics, or with
/// 401. It lives until stop(). For one thread.
class MetricsServer : public std::enable_shared_from_this<MetricsServer> {
 public:
    /// \param tokens  null: anybody may
    MetricsServer(const boost::asio::any_io_executor&, std::string name,
                  std::shared_ptr<const AcceptedTokens>);

    void start() { accept(); }
    void stop();
    unsigned short port() const { return acceptor_.local_endpoint().port(); }

 private:
    class Connection;
    void accept();
    std::string metrics();

    boost::asio::ip::tcp::acceptor acceptor_;
    std::string name_;
    std::shared_ptr<const AcceptedTokens> tokens_;
    std::size_t scrapes_ = 0;
};

}  // namespace scraper
