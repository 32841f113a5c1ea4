#pragma once

#include "k8s_sd/environment.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <stdlib.h>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
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
    ~ServerFolder() {
        std::error_code ignored;  // a dying server may still write
        std::filesystem::remove_all(path_, ignored);
    }
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

/// A server of Debian with TLS on a port of 127.0.0.1, killed in the end. The test is skipped if it
/// is not installed or does not start.
class RealProgram {
 public:
    using Arguments = std::function<std::vector<std::string>(unsigned short port)>;

    /// \param authority  the certificate of the authority of the server's certificate
    RealProgram(const std::string& name, const std::string& authority, const Arguments& arguments)
        : authority_(authority) {
        const std::string path = path_of(name);
        const std::string timeout = path_of("timeout");
        if (path.empty() || timeout.empty()) SKIP(name + " is not installed");
        // Another process may take a free port first: the server ends then.
        for (int attempt = 0; attempt < 5 && std::chrono::steady_clock::now() < end_; ++attempt) {
            port_ = free_port();
            // The server ends even if the test is killed.
            std::vector<std::string> all = {"-k", "1", "600", path};
            for (std::string& argument : arguments(port_)) all.push_back(std::move(argument));
            if (starts(timeout, std::move(all))) return;
        }
        SKIP(name + " does not start");
    }
    unsigned short port() const noexcept { return port_; }

 private:
    static std::string path_of(const std::string& name) {
        // The PATH of a plain user may lack the folders of servers.
        for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/"}) {
            if (std::filesystem::exists(folder + name)) return folder + name;
        }
        return {};
    }
    static unsigned short free_port() {
        asio::io_context io;
        asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
        return acceptor.local_endpoint().port();
    }
    bool starts(const std::string& command, std::vector<std::string> arguments) {
        ProgramRunner::Program program;
        program.command = command;
        program.args = std::move(arguments);
        program.timeout = std::chrono::minutes(10);
        program.max_output = 1 << 20;
        const auto ended = std::make_shared<std::atomic<bool>>(false);
        running_ = system_program_runner()->async_run(
            program, [ended](const ProgramRunner::Result&) { *ended = true; });
        while (!*ended && std::chrono::steady_clock::now() < end_) {
            if (serves()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    }
    /// Only the certificate proves that neither another process on the port answers, nor the
    /// connection of a socket to itself.
    bool serves() const {
        asio::io_context io;
        asio::ssl::context tls(asio::ssl::context::tls_client);
        tls.add_certificate_authority(asio::buffer(authority_));
        asio::ssl::stream<asio::ip::tcp::socket> stream(io, tls);
        stream.set_verify_mode(asio::ssl::verify_peer);
        bool proven = false;
        stream.next_layer().async_connect(
            {asio::ip::address_v4::loopback(), port_}, [&](error_code failed) {
                error_code ec;
                auto& socket = stream.next_layer();
                if (failed || socket.local_endpoint(ec) == socket.remote_endpoint(ec)) return;
                stream.async_handshake(asio::ssl::stream_base::client,
                                       [&](error_code refused) { proven = !refused; });
            });
        io.run_for(std::chrono::seconds(30));
        return proven;
    }

    const std::string authority_;
    const std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::minutes(2);
    unsigned short port_ = 0;
    std::shared_ptr<void> running_;
};

}  // namespace k8s_sd::test
