// A plugin with a discoverer of its own. Only discover() is visible.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <k8s_sd/discoverer.hpp>
#include <string>

extern "C" __attribute__((visibility("default"))) void discover(const char* url, char* address,
                                                                std::size_t size) {
    boost::asio::io_context context;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = url;
    k8s_sd::Discoverer discoverer(
        context.get_executor(), config, [&](const k8s_sd::TargetGroupDiff& diff) {
            for (const k8s_sd::GroupChange& change : diff.updated) {
                const std::string found = change.group->merged(0).at("__address__");
                std::snprintf(address, size, "%s", found.c_str());
            }
            discoverer.cancel();
        });
    discoverer.async_run([&](k8s_sd::error_code) { context.stop(); });
    context.run_for(std::chrono::seconds(60));
}
