// A program that links no library of ours: it includes all bodies. Each fwd.hpp comes first, so
// that a declaration that differs from its definition is noticed.
#include "k8s_sd/fwd.hpp"
#include "k8s_sd/k8s_sd.hpp"
#include "k8s_sd/scrape/fwd.hpp"
#include "k8s_sd/scrape/scrape.hpp"
#include "k8s_sd/scrape/src.hpp"

#include <boost/asio/io_context.hpp>
#include <iostream>

int main() {
    boost::asio::io_context context;
    const k8s_sd::DiscoveryConfig config{.api_server = {.url = "http://127.0.0.1:1"}};
    k8s_sd::Discoverer discoverer(context.get_executor(), config, [](const auto&) {});
    k8s_sd::error_code result;
    discoverer.async_run([&](k8s_sd::error_code ec) { result = ec; });
    discoverer.cancel();
    context.run();
    std::cout << result.message() << '\n';
    return result == boost::asio::error::operation_aborted ? 0 : 1;
}
