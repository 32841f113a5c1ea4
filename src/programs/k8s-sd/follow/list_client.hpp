#pragma once

#include "follow/list_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace k8s_sd_program {

/// The options of requests for lists.
struct ListClientOptions {
    std::string ca_file;     ///< empty: the system's CAs
    std::string cert_file;   ///< of the client; empty: none
    std::string key_file;    ///< of the client's certificate
    std::string token_file;  ///< read for each request; empty: none
    std::chrono::seconds wait{60};
    std::uint64_t body_bytes = std::uint64_t{256} << 20;  ///< longer responses are refused
    /// Receives a warning about the CA file, in words, once until it changes; may be empty.
    std::function<void(const std::string&)> warn{};
    std::shared_ptr<k8s_sd::Resolver> resolver = k8s_sd::system_resolver();
};

/// The response of a server.
struct ListReply {
    unsigned status = 0;
    std::string tag{};
    std::string body{};
    bool waited = false;               ///< the server says that this is the answer of a long poll
    std::chrono::milliseconds took{};  ///< from the request to the whole answer
};

/// Requests one URL repeatedly, on a persistent connection. Everything has a time limit, and can be
/// cancelled.
class ListClient {
 public:
    ListClient(boost::asio::any_io_executor, ListSource, ListClientOptions);
    ~ListClient();
    ListClient(const ListClient&) = delete;
    ListClient& operator=(const ListClient&) = delete;

    /// Waits until the list differs from the tag's, if the server supports it.
    /// \throws boost::system::system_error, std::runtime_error
    boost::asio::awaitable<void> get(const std::string& tag, ListReply& reply);

 private:
    class Connection;
    template <class Stream>
    class ConnectionOver;

    boost::asio::awaitable<void> get_once(const std::string& tag, ListReply& reply);
    std::unique_ptr<Connection> make_connection();
    void warn(std::string warning);

    const boost::asio::any_io_executor executor_;
    const ListSource source_;
    const ListClientOptions options_;
    std::unique_ptr<Connection> connection_;
    std::string warning_;  // the known one
};

}  // namespace k8s_sd_program
