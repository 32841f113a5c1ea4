#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <string>

namespace bench {

/// A response of a server.
struct HttpAnswer {
    unsigned status = 0;
    std::string tag{};  ///< its ETag
    std::string body{};
};

/// A persistent connection to a server on this machine. Blocks.
class HttpClient {
 public:
    explicit HttpClient(unsigned short port);

    /// \param headers  lines, each ending with "\r\n"
    HttpAnswer get(const std::string& target, const std::string& headers = "");
    HttpAnswer head(const std::string& target);
    /// The halves of get(): the caller can act between them.
    void ask(const std::string& target, const std::string& headers = "");
    HttpAnswer answer();

 private:
    void send(const char* method, const std::string& target, const std::string& headers);
    HttpAnswer read(bool head);

    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
    boost::beast::flat_buffer buffer_;
};

}  // namespace bench
