#include "discovered.hpp"

#include "k8s_sd/discoverer.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <string>

namespace bench {

std::vector<k8s_sd::TargetGroupPtr> discover_groups(std::size_t pods) {
    const Server server = serve(pods, 0);
    boost::asio::io_context context;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(server.port);
    std::vector<k8s_sd::TargetGroupPtr> groups;
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) {
                                      for (const auto& change : diff.updated) {
                                          groups.push_back(change.group);
                                      }
                                      context.stop();
                                  });
    discoverer.async_run([](k8s_sd::error_code) {});
    context.run();
    stop(server);
    return groups;
}

}  // namespace bench
