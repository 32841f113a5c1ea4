#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace scraper {

/// An HTTP server on a free port of 127.0.0.1 that answers every GET with a few metrics. It lives
/// until stop(). For one thread.
class MetricsServer : public std::enable_shared_from_this<MetricsServer> {
 public:
    MetricsServer(const boost::asio::any_io_executor&, std::string name);

    void start() { accept(); }
    void stop();
    unsigned short port() const { return acceptor_.local_endpoint().port(); }

 private:
    class Connection;
    void accept();
    std::string metrics();

    boost::asio::ip::tcp::acceptor acceptor_;
    std::string name_;
    std::size_t scrapes_ = 0;
};

}  // namespace scraper
