#pragma once

#include "k8s_sd/environment.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <stdlib.h>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A folder for the files of a server, deleted in the end.
class ServerFolder {
 public:
    ServerFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "k8s_sd-h2-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~ServerFolder() { std::filesystem::remove_all(path_); }
    ServerFolder(const ServerFolder&) = delete;
    ServerFolder& operator=(const ServerFolder&) = delete;
    /// \returns the path of the file
    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string path() const { return path_; }

 private:
    std::filesystem::path path_;
};

/// A server of Debian that listens on a port of 127.0.0.1, killed in the end. Without the program
/// the test is skipped.
class RealServer {
 public:
    using Arguments = std::function<std::vector<std::string>(unsigned short port)>;

    RealServer(const std::string& program, const Arguments& arguments) {
        if (!is_installed(program)) SKIP(program + " is not installed");
        // Another process may take a free port first: the server ends then.
        for (int attempt = 0; attempt < 5; ++attempt) {
            port_ = free_port();
            if (starts(program, arguments(port_))) return;
        }
        FAIL(program + " does not start");
    }
    unsigned short port() const noexcept { return port_; }

 private:
    static bool is_installed(const std::string& program) {
        for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/usr/sbin/"}) {
            if (std::filesystem::exists(folder + program)) return true;
        }
        return false;
    }
    static unsigned short free_port() {
        asio::io_context io;
        asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
        return acceptor.local_endpoint().port();
    }
    bool starts(const std::string& name, std::vector<std::string> arguments) {
        ProgramRunner::Program program;
        program.command = name;
        program.args = std::move(arguments);
        program.timeout = std::chrono::minutes(5);
        program.max_output = 1 << 20;
        const auto ended = std::make_shared<std::atomic<bool>>(false);
        running_ = system_program_runner()->async_run(
            program, [ended](const ProgramRunner::Result&) { *ended = true; });
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!*ended && std::chrono::steady_clock::now() < end) {
            if (accepts_connections()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    }
    bool accepts_connections() const {
        asio::io_context io;
        asio::ip::tcp::socket socket(io);
        error_code ec;
        socket.connect({asio::ip::address_v4::loopback(), port_}, ec);
        return !ec;
    }

    unsigned short port_ = 0;
    std::shared_ptr<void> running_;
};

}  // namespace k8s_sd::test
