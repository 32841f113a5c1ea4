#include "scale/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench::scale {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using k8s_sd::Kind;
using Clock = std::chrono::steady_clock;

constexpr Kind served[] = {Kind::node, Kind::pod, Kind::service, Kind::endpointslice};

std::string fixed_digits(std::size_t number, int width) {
    char text[24];
    std::snprintf(text, sizeof text, "%0*zu", width, number);
    return text;
}

/// The running watches of one kind.
class Watches {
 public:
    void add(tcp::socket socket) {
        const std::lock_guard lock(mutex_);
        sockets_.push_back(std::move(socket));
    }
    void send(const std::string& events) {
        char header[32];
        std::snprintf(header, sizeof header, "%zx\r\n", events.size());
        const std::string chunk = header + events + "\r\n";
        const std::lock_guard lock(mutex_);
        boost::system::error_code ec;
        for (tcp::socket& socket : sockets_) asio::write(socket, asio::buffer(chunk), ec);
        // The client of a failed write has closed the connection.
    }
    void end() {
        const std::lock_guard lock(mutex_);
        sockets_.clear();
    }

 private:
    std::mutex mutex_;
    std::vector<tcp::socket> sockets_;
};

/// The objects of one kind.
struct Resource {
    Resource(Kind kind, Encoding encoding, const Size& size)
        : path_end('/' + std::string(to_string(kind))),
          list(kind, encoding, size.pods, size.namespace_size) {}
    std::string path_end;
    ObjectList list;
    std::optional<ObjectList> rest;     // after drop_pods
    std::atomic<bool> dropped = false;  // `rest` is served
    std::atomic<bool> expired = false;  // the next watch has to list
    Watches watches;
};

class Serving {
 public:
    Serving(const Size& size, Encoding encoding) {
        for (const Kind kind : served) {
            resources_.push_back(std::make_unique<Resource>(kind, encoding, size));
        }
    }
    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    void accept() {
        while (true) {
            std::thread([this, socket = acceptor_.accept()]() mutable {
                boost::system::error_code ec;
                answer(std::move(socket), ec);
            }).detach();
        }
    }
    void run(const Command& command) {
        if (command.what == Command::What::change_pods) return change_pods(command);
        if (command.what == Command::What::drop_pods) return drop_pods(command.count);
        Resource& nodes = of(Kind::node);
        std::string event;
        nodes.list.append_event(event, 0, 'g' + fixed_digits(command.count, 6), ++revision_);
        nodes.watches.send(event);
    }

 private:
    Resource& of(Kind kind) {
        const auto* const found = std::find(std::begin(served), std::end(served), kind);
        return *resources_[static_cast<std::size_t>(found - std::begin(served))];
    }

    void drop_pods(std::size_t left) {
        Resource& pods = of(Kind::pod);
        pods.rest.emplace(Kind::pod, pods.list.encoding(), left);
        pods.dropped = pods.expired = true;
        pods.watches.end();
    }

    void change_pods(const Command& command) {
        Resource& pods = of(Kind::pod);
        const auto start = Clock::now();
        constexpr std::size_t stride = 7919;  // a prime: neighbours are of different nodes
        for (std::size_t i = 0; i < command.count;) {
            const std::chrono::duration<double> since = Clock::now() - start;
            const auto due = std::min(
                command.count,
                1 + static_cast<std::size_t>(since.count() * static_cast<double>(command.rate)));
            std::string events;
            for (; i < due; ++i) {
                pods.list.append_event(events, i * stride % pods.list.size(),
                                       fixed_digits(stamp(), 9), ++revision_);
            }
            if (!events.empty()) pods.watches.send(events);
            const auto next = std::chrono::duration<double>(static_cast<double>(i) /
                                                            static_cast<double>(command.rate));
            std::this_thread::sleep_until(start +
                                          std::chrono::duration_cast<Clock::duration>(next));
        }
    }

    void answer(tcp::socket socket, boost::system::error_code& ec) {
        asio::streambuf buffer;
        while (true) {
            const std::size_t n = asio::read_until(socket, buffer, "\r\n\r\n", ec);
            if (ec) return;
            const auto begin = asio::buffers_begin(buffer.data());
            const std::string request(begin, begin + static_cast<std::ptrdiff_t>(n));
            buffer.consume(n);
            const std::string target = request.substr(4, request.find(' ', 4) - 4);
            const std::string path = target.substr(0, target.find('?'));
            const auto resource =
                std::find_if(resources_.begin(), resources_.end(),
                             [&](const auto& one) { return path.ends_with(one->path_end); });
            if (resource == resources_.end()) {
                refuse(socket, "404 Not Found", "NotFound", ec);
            } else if (target.find("sendInitialEvents") != std::string::npos) {
                refuse(socket, "422 Unprocessable Entity", "Invalid", ec);
            } else if (target.find("watch=1") == std::string::npos) {
                send_list(socket, (*resource)->dropped ? *(*resource)->rest : (*resource)->list,
                          ec);
            } else if ((*resource)->expired.exchange(false)) {
                refuse(socket, "410 Gone", "Expired", ec);
            } else {
                return begin_watch(std::move(socket), **resource, ec);
            }
            if (ec) return;
        }
    }

    static void refuse(tcp::socket& socket, const std::string& status, const std::string& reason,
                       boost::system::error_code& ec) {
        const std::string body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"reason":")" +
                                 reason + R"(","code":)" + status.substr(0, 3) + "}";
        asio::write(socket,
                    asio::buffer("HTTP/1.1 " + status +
                                 "\r\nContent-Type: application/json\r\nContent-Length: " +
                                 std::to_string(body.size()) + "\r\n\r\n" + body),
                    ec);
    }

    static void send_list(tcp::socket& socket, const ObjectList& list,
                          boost::system::error_code& ec) {
        asio::write(
            socket,
            asio::buffer(
                "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(content_type(list.encoding())) +
                "\r\nContent-Length: " + std::to_string(list.bytes()) + "\r\n\r\n"),
            ec);
        list.for_each_part([&](std::string_view part) {
            if (!ec) asio::write(socket, asio::buffer(part), ec);
        });
    }

    static void begin_watch(tcp::socket socket, Resource& resource, boost::system::error_code& ec) {
        std::string type(content_type(resource.list.encoding()));
        if (resource.list.encoding() == Encoding::protobuf) type += ";stream=watch";
        asio::write(socket,
                    asio::buffer("HTTP/1.1 200 OK\r\nContent-Type: " + type +
                                 "\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    ec);
        if (ec) return;
        socket.set_option(tcp::no_delay(true), ec);
        resource.watches.add(std::move(socket));
    }

    std::vector<std::unique_ptr<Resource>> resources_;
    asio::io_context context_;
    tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    std::size_t revision_ = 0;
};

}  // namespace

void Server::send(const Command& command) const {
    if (::write(input, &command, sizeof command) != sizeof command) std::abort();
}

Server serve(const Size& size, Encoding encoding) {
    unsigned short port = 0;
    const Child child = start_child(port, [&](int input, const auto& report) {
        Serving serving(size, encoding);
        report(serving.port());
        std::thread([&] { serving.accept(); }).detach();
        for (Command command{}; ::read(input, &command, sizeof command) == sizeof command;) {
            serving.run(command);
        }
    });
    return {child, port};
}

std::uint64_t stamp() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    return static_cast<std::uint64_t>(us) % 1'000'000'000;
}

}  // namespace bench::scale
