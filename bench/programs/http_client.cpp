#include "http_client.hpp"

#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace bench {

namespace asio = boost::asio;
namespace http = boost::beast::http;

HttpClient::HttpClient(unsigned short port) : socket_(context_) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    socket_.set_option(asio::ip::tcp::no_delay(true));
}

HttpAnswer HttpClient::get(const std::string& target, const std::string& headers) {
    ask(target, headers);
    return answer();
}

HttpAnswer HttpClient::head(const std::string& target) {
    send("HEAD", target, "");
    return read(true);
}

void HttpClient::ask(const std::string& target, const std::string& headers) {
    send("GET", target, headers);
}

HttpAnswer HttpClient::answer() { return read(false); }

void HttpClient::send(const char* method, const std::string& target, const std::string& headers) {
    const std::string request = method + (" " + target) +
                                " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n" + headers +
                                "\r\n";
    asio::write(socket_, asio::buffer(request));
}

HttpAnswer HttpClient::read(bool head) {
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    parser.skip(head);
    http::read(socket_, buffer_, parser);
    auto& response = parser.get();
    return {response.result_int(), std::string(response[http::field::etag]),
            std::move(response.body())};
}

}  // namespace bench
