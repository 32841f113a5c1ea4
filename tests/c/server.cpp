// A simulated API server for tests of hosts in other languages. Prints its URL, reads one command a
// line from standard input and answers each with "ok" and its result, or with "error" and a text.
// Ends with its input. With the argument FILE, it uses TLS, and writes the certificate of its
// authority there.
//
// apply JSON | remove RESOURCE NAMESPACE NAME | resource GROUP KIND PLURAL | token TOKEN | compact
// end | drop | garbage RESOURCE | deny RESOURCE | allow RESOURCE | accept yes|no | requests

#include "k8s_sd/sim/api_server.hpp"
#include "support/certificates.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::string rest_of(std::istream& words) {
    std::string rest;
    std::getline(words >> std::ws, rest);
    return rest;
}

/// \returns the result, on one line
std::string run(k8s_sd::sim::ApiServer& server, const std::string& line) {
    std::istringstream words(line);
    std::string command, a, b, c;
    words >> command;
    if (command == "apply") return server.apply(rest_of(words));
    if (command == "remove") {
        words >> a >> b >> c;
        if (b == "-") b.clear();
        return server.remove(a, b, c) ? "yes" : "no";
    }
    if (command == "resource") {
        words >> a >> b >> c;
        return server.add_resource({.group = a, .kind = b, .plural = c}), "";
    }
    if (command == "token") return server.set_token(rest_of(words)), "";
    if (command == "compact") return server.compact(), "";
    if (command == "end") return server.end_watches(), "";
    if (command == "drop") return server.disconnect_all(), "";
    if (command == "garbage") {
        server.send_to_watches(rest_of(words), R"({"type": "ADDED", "obj)",
                               k8s_sd::sim::ApiServer::After::drop);
        return "";
    }
    if (command == "deny") return server.deny(rest_of(words)), "";
    if (command == "allow") return server.allow(rest_of(words)), "";
    if (command == "accept") return server.accept_connections(rest_of(words) == "yes"), "";
    if (command == "requests") return std::to_string(server.requests().size());
    throw std::invalid_argument("unknown command: " + command);
}

k8s_sd::sim::ApiServerOptions with_certificate(const char* file) {
    const k8s_sd::test::CertificateAuthority authority;
    const auto identity = authority.server({"127.0.0.1"});
    if (!(std::ofstream(file) << authority.certificate() << std::flush)) {
        throw std::runtime_error("cannot write " + std::string(file));
    }
    k8s_sd::sim::ApiServerOptions options;
    options.tls_certificate = identity.certificate;
    options.tls_key = identity.key;
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    boost::asio::io_context io;
    const auto work = boost::asio::make_work_guard(io);
    k8s_sd::sim::ApiServer server(io.get_executor(), argc > 1 ? with_certificate(argv[1])
                                                              : k8s_sd::sim::ApiServerOptions());
    server.listen();
    std::jthread thread([&] { io.run(); });
    std::cout << server.url() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << "ok " << run(server, line) << std::endl;
        } catch (const std::exception& e) {
            std::cout << "error " << e.what() << std::endl;
        }
    }
    io.stop();
}
