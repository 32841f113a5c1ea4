#include "metrics_server.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <utility>

namespace scraper {

namespace asio = boost::asio;

MetricsServer::MetricsServer(const asio::any_io_executor& executor, std::string name,
                             std::shared_ptr<const AcceptedTokens> tokens)
    : name_(std::move(name)),
      tokens_(std::move(tokens)),
      server_(std::make_shared<http::HttpServer>(
          executor, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0),
          [this](const http::HttpServer::Request& request, const auto& respond) {
              respond(answer(request.header(boost::beast::http::field::authorization)));
          })) {
    server_->start();
}

http::HttpServer::Reply MetricsServer::answer(std::string_view authorization) {
    if (tokens_ && !tokens_->accepts(authorization)) return {401};
    return http::metrics_reply(metrics());
}

std::string MetricsServer::metrics() {
    ++scrapes_;
    return "# HELP scrapes_total How often this was scraped.\n"
           "# TYPE scrapes_total counter\n"
           "scrapes_total " +
           std::to_string(scrapes_) +
           "\n# HELP program_info The program.\n"
           "# TYPE program_info gauge\n"
           "program_info{name=\"" +
           name_ + "\"} 1\n";
}

}  // namespace scraper
