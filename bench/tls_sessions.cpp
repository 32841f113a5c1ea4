// The memory floor of an idle watch over TLS: this many bare OpenSSL sessions, each with a request
// sent and the response head read. Prints their memory and waits for the end of standard input.
//
// usage: bench_tls_sessions PORT SESSIONS

#include "measure.hpp"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int connect_to(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
    return socket;
}

SSL* open_session(SSL_CTX* context, std::uint16_t port, std::size_t number) {
    SSL* const session = SSL_new(context);
    SSL_set_mode(session, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_fd(session, connect_to(port));
    if (SSL_connect(session) != 1) std::abort();
    const std::string request = "GET /api/v1/namespaces/quiet-" + std::to_string(number) +
                                "/pods?watch=1 HTTP/1.1\r\nHost: bench\r\n\r\n";
    if (SSL_write(session, request.data(), static_cast<int>(request.size())) <= 0) std::abort();
    char head[1024];
    if (SSL_read(session, head, sizeof head) <= 0) std::abort();
    return session;
}

}  // namespace

int main(int argc, char** argv) {
    const auto port = static_cast<std::uint16_t>(bench::argument(argc, argv, 1, 0));
    const std::size_t number = bench::argument(argc, argv, 2, 1000);
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    std::vector<SSL*> sessions;
    sessions.push_back(open_session(context, port, number));  // pays for shared data
    ::malloc_trim(0);
    const double before = bench::memory_mb("VmRSS");
    for (std::size_t i = 0; i < number; ++i) sessions.push_back(open_session(context, port, i));
    ::malloc_trim(0);
    std::printf("%.3f\n", bench::memory_mb("VmRSS") - before);
    std::fflush(stdout);
    char end = 0;
    while (::read(STDIN_FILENO, &end, 1) > 0) {
    }
    return 0;
}
