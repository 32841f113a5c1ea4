#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t batch_bytes = 512 * 1024;

std::string chunk_header(std::size_t size) {
    char text[32];
    std::snprintf(text, sizeof text, "%zx\r\n", size);
    return text;
}

/// The start of an answer.
std::string head_of(std::string_view type) {
    return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\n";
}

/// The list as one gzip member.
std::string compressed_list(const Cluster& cluster) {
    std::string result;
    ::z_stream stream{};
    if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("zlib cannot be used");
    }
    std::array<char, 65536> buffer{};
    const auto add = [&](std::string part, int flush) {
        stream.next_in = reinterpret_cast<::Bytef*>(part.data());
        stream.avail_in = static_cast<::uInt>(part.size());
        do {
            stream.next_out = reinterpret_cast<::Bytef*>(buffer.data());
            stream.avail_out = static_cast<::uInt>(buffer.size());
            ::deflate(&stream, flush);
            result.append(buffer.data(), buffer.size() - stream.avail_out);
        } while (stream.avail_out == 0);
    };
    for (const std::string& part : cluster.parts()) add(part, Z_NO_FLUSH);
    add({}, Z_FINISH);
    ::deflateEnd(&stream);
    return result;
}

void send_compressed(tcp::socket& socket, const std::string& list) {
    asio::write(socket, asio::buffer(head_of(content_type(Encoding::json)) +
                                     "Content-Encoding: gzip\r\nContent-Length: " +
                                     std::to_string(list.size()) + "\r\n\r\n"));
    asio::write(socket, asio::buffer(list));
}

void send_list(tcp::socket& socket, const Cluster& cluster) {
    const std::string head = head_of(content_type(cluster.encoding())) +
                             "Content-Length: " + std::to_string(cluster.list_bytes()) + "\r\n\r\n";
    asio::write(socket, asio::buffer(head));
    for (const std::string& part : cluster.parts()) asio::write(socket, asio::buffer(part));
}

/// Waits for a byte. \returns whether one arrived before the client closed the connection
bool sent(int start, tcp::socket& socket) {
    std::array<pollfd, 2> sources{{{start, POLLIN, 0}, {socket.native_handle(), POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 1 || sources[1].revents != 0) return false;
    char go = 0;
    return ::read(start, &go, 1) == 1;
}

/// The watch stays open, as a real one does.
void send_events(tcp::socket& socket, const Cluster& cluster, std::size_t events, int start) {
    std::string type(content_type(cluster.encoding()));
    if (cluster.encoding() == Encoding::protobuf) type += ";stream=watch";
    asio::write(socket, asio::buffer(head_of(type) + "Transfer-Encoding: chunked\r\n\r\n"));
    socket.set_option(tcp::no_delay(true));
    std::string batch;
    std::size_t event = 0;
    for (std::size_t end = events; sent(start, socket); end += events) {
        while (event < end) {
            batch.clear();
            while (event < end && batch.size() < batch_bytes) {
                cluster.append_event(batch, event, event + 1);
                ++event;
            }
            asio::write(socket, asio::buffer(chunk_header(batch.size()) + batch + "\r\n"));
        }
    }
}

/// Answers like a server without streamed lists.
void refuse(tcp::socket& socket) {
    constexpr std::string_view answer =
        "HTTP/1.1 422 Unprocessable Entity\r\nContent-Type: application/json\r\n"
        "Content-Length: 79\r\n\r\n"
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"reason":"Invalid","code":422})";
    asio::write(socket, asio::buffer(answer));
}

/// \param compressed  the list for clients that accept gzip; empty: it is sent as it is
void answer(tcp::socket socket, const Cluster& cluster, const std::string& compressed,
            std::size_t events, int start) {
    boost::system::error_code ec;
    asio::streambuf buffer;
    while (true) {
        const std::size_t n = asio::read_until(socket, buffer, "\r\n\r\n", ec);
        if (ec) return;
        const std::string request(asio::buffers_begin(buffer.data()),
                                  asio::buffers_begin(buffer.data()) +
                                      static_cast<std::ptrdiff_t>(n));
        buffer.consume(n);
        if (request.find("sendInitialEvents") != std::string::npos) {
            refuse(socket);
        } else if (request.find("watch=1") == std::string::npos) {
            const bool gzip = request.find("Accept-Encoding: gzip") != std::string::npos;
            gzip && !compressed.empty() ? send_compressed(socket, compressed)
                                        : send_list(socket, cluster);
        } else {
            send_events(socket, cluster, events, start);
        }
    }
}

struct Ready {
    unsigned short port;
    std::size_t list_bytes;
};

template <class Report>
[[noreturn]] void run(const Cluster& cluster, std::size_t events, bool gzip, int start,
                      const Report& report) {
    const std::string compressed = gzip ? compressed_list(cluster) : std::string();
    asio::io_context context;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    report({acceptor.local_endpoint().port(), cluster.list_bytes()});
    while (true) {
        tcp::socket socket = acceptor.accept();
        std::thread([&cluster, &compressed, events, start, socket = std::move(socket)]() mutable {
            try {
                answer(std::move(socket), cluster, compressed, events, start);
            } catch (const std::exception&) {
                // The client has closed the connection.
            }
        }).detach();
    }
}

}  // namespace

Server serve(std::size_t pods, std::size_t events, bool gzip, Encoding encoding) {
    Ready ready{};
    const Child child = start_child(ready, [&](int start, const auto& report) {
        run(Cluster(pods, encoding), events, gzip, start, report);
    });
    return {child, ready.port, ready.list_bytes};
}

}  // namespace bench
