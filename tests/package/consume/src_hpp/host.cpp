// Discovers at an address where no server listens, and reports the error.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <iostream>
#include <k8s_sd/k8s_sd.hpp>

int main() {
    boost::asio::io_context context;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:1";
    int calls = 0;
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff&) { ++calls; });
    discoverer.async_run([](k8s_sd::error_code) {});
    k8s_sd::DiscovererStatus status;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!status.error && std::chrono::steady_clock::now() < end) {
        context.run_for(std::chrono::milliseconds(10));
        status = discoverer.status();
    }
    discoverer.cancel();
    context.run();
    std::cout << status.message << '\n';
    return status.error && calls == 0 ? 0 : 1;
}
