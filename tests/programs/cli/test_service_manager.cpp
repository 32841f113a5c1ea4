#include "cli/service_manager.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <unistd.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

namespace asio = boost::asio;
using Protocol = asio::local::datagram_protocol;

/// A socket as a service manager has one.
class FakeManager {
 public:
    explicit FakeManager(const std::string& name)
        : socket_(io_, Protocol::endpoint(name.front() == '@' ? '\0' + name.substr(1) : name)) {}

    std::string next() {
        std::array<char, 1000> bytes{};
        const std::size_t size = socket_.receive(asio::buffer(bytes));
        return {bytes.data(), size};
    }
    bool is_empty() { return socket_.available() == 0; }

 private:
    asio::io_context io_;
    Protocol::socket socket_;
};

std::string unique_name() {
    static int count = 0;
    return "k8s-sd-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace

TEST_CASE("ServiceManager: the messages of a life, to a path and to an abstract name") {
    for (const std::string& name : {"/tmp/" + unique_name(), "@" + unique_name()}) {
        FakeManager manager(name);
        asio::io_context io;
        cli::ServiceManager service(io.get_executor(), {.socket = name});
        service.ready("serves 2 jobs\nand more");
        CHECK(manager.next() == "READY=1\nSTATUS=serves 2 jobs");
        service.reloading();
        CHECK(manager.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
        service.stopping();
        CHECK(manager.next() == "STOPPING=1");
        io.run();  // returns: there is no watchdog
        CHECK(manager.is_empty());
        std::remove(name.c_str());
    }
}

TEST_CASE("ServiceManager: the watchdog is fed from ready() to stopping()") {
    const std::string name = "@" + unique_name();
    FakeManager manager(name);
    asio::io_context io;
    cli::ServiceManager service(io.get_executor(),
                                {.socket = name, .watchdog = std::chrono::milliseconds(2)});
    io.run();
    CHECK(manager.is_empty());
    service.ready("serves");
    service.ready("serves again");
    CHECK(manager.next() == "READY=1\nSTATUS=serves");
    CHECK(manager.next() == "WATCHDOG=1");
    CHECK(manager.next() == "READY=1\nSTATUS=serves again");
    for (int i = 0; i < 3; ++i) {
        io.restart();
        io.run_one();
        CHECK(manager.next() == "WATCHDOG=1");
    }
    service.stopping();
    CHECK(manager.next() == "STOPPING=1");
    io.restart();
    io.run();  // returns
    CHECK(manager.is_empty());
}

TEST_CASE("ServiceManager: without a manager, or with one that is gone, nothing happens") {
    asio::io_context io;
    for (const std::string& name : {std::string(), "/nonexistent/" + unique_name(),
                                    "@" + unique_name(), "/" + std::string(200, 'x')}) {
        cli::ServiceManager service(io.get_executor(), {.socket = name});
        service.ready("serves");
        service.reloading();
        service.stopping();
        io.run();
        io.restart();
    }
}
