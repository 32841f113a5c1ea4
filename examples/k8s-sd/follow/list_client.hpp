#pragma once

#include "follow/list_source.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace bridge {

/// How lists are asked for.
struct ListClientOptions {
    std::string ca_file;     ///< empty: those of the system
    std::string cert_file;   ///< of the client; empty: none
    std::string key_file;    ///< of the client's certificate
    std::string token_file;  ///< read for each request; empty: none
    std::chrono::seconds wait{60};
    std::uint64_t body_bytes = std::uint64_t{256} << 20;  ///< longer answers are refused
};

/// What a server answers.
struct ListReply {
    unsigned status = 0;
    std::string tag{};
    std::string body{};
};

/// Asks one URL again and again, on one connection as long as it lasts. Everything has a time
/// limit but the look-up of names, which has one of the system.
class ListClient {
 public:
    ListClient(boost::asio::any_io_executor, ListSource, ListClientOptions);
    ~ListClient();
    ListClient(const ListClient&) = delete;
    ListClient& operator=(const ListClient&) = delete;

    /// Waits for another list than that of the tag, if there is one and the server knows how.
    /// \throws boost::system::system_error, std::system_error
    boost::asio::awaitable<void> get(const std::string& tag, ListReply& reply);

 private:
    class Connection;
    template <class Stream>
    class ConnectionOver;

    boost::asio::awaitable<void> get_once(const std::string& tag, ListReply& reply);
    std::unique_ptr<Connection> make_connection() const;

    const boost::asio::any_io_executor executor_;
    const ListSource source_;
    const ListClientOptions options_;
    std::unique_ptr<Connection> connection_;
};

}  // namespace bridge
