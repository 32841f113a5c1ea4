#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <string>

namespace bench {

/// What a server says.
struct HttpAnswer {
    unsigned status = 0;
    std::string tag{};  ///< its ETag
    std::string body{};
};

/// A connection to a server of this machine, which stays. Blocks.
class HttpClient {
 public:
    explicit HttpClient(unsigned short port);

    /// \param headers  lines that each end with "\r\n"
    HttpAnswer get(const std::string& target, const std::string& headers = "");
    HttpAnswer head(const std::string& target);
    /// The halves of get(): others can do something between.
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
