#include "secret_server.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>

namespace bench {

std::string secret_name(std::size_t number) {
    return "credentials-" + std::to_string(100'000 + number);
}

SecretServer serve_secrets(const k8s_sd::sim::ApiServerOptions& options, std::size_t secrets,
                           const std::function<void(k8s_sd::sim::ApiServer&)>& more) {
    unsigned short port = 0;
    const Child child = start_child(port, [&](int, const auto& report) {
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
        report(server.listen());
        context.run();
    });
    const std::string scheme = options.tls_certificate.empty() ? "http" : "https";
    return {child, scheme + "://127.0.0.1:" + std::to_string(port)};
}

double heap_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

}  // namespace bench
