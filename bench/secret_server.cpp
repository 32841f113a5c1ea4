#include "secret_server.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

namespace bench {

std::string secret_name(std::size_t number) {
    return "credentials-" + std::to_string(100'000 + number);
}

SecretServer serve_secrets(const k8s_sd::sim::ApiServerOptions& options, std::size_t secrets,
                           const std::function<void(k8s_sd::sim::ApiServer&)>& more) {
    int pipe[2];
    if (::pipe(pipe) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
        boost::asio::io_context context;
        k8s_sd::sim::ApiServer server(context.get_executor(), options);
        for (std::size_t i = 0; i < secrets; ++i) {
            server.apply(
                R"({"kind":"Secret","apiVersion":"v1","type":"Opaque","metadata":{"name":")" +
                secret_name(i) +
                R"(","namespace":"shop"},"data":{"username":"c2NyYXBlcg==",)"
                R"("password":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}})");
        }
        if (more) more(server);
        const unsigned short port = server.listen();
        if (::write(pipe[1], &port, sizeof port) != sizeof port) std::abort();
        context.run();
        std::_Exit(0);
    }
    unsigned short port = 0;
    if (::read(pipe[0], &port, sizeof port) != sizeof port) std::abort();
    ::close(pipe[0]);
    ::close(pipe[1]);
    const std::string scheme = options.tls_certificate.empty() ? "http" : "https";
    return {scheme + "://127.0.0.1:" + std::to_string(port), child};
}

void stop(const SecretServer& server) {
    ::kill(server.process, SIGTERM);
    ::waitpid(server.process, nullptr, 0);
}

double heap_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

}  // namespace bench
