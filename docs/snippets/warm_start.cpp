// Snippets of docs/guide/warm-start.md.

#include "k8s_sd/discoverer.hpp"

#include <boost/asio/io_context.hpp>

namespace snippets::warm_start {

void withhold_credentials(bool);
void apply(const k8s_sd::TargetGroupDiff& diff);

[[maybe_unused]] static void start_warm(boost::asio::io_context& io,
                                        const k8s_sd::DiscoveryConfig& config) {
    //[warm
    const auto on_diff = [](const k8s_sd::TargetGroupDiff& diff) {
        if (diff.unconfirmed) withhold_credentials(true);
        if (diff.confirms) withhold_credentials(false);
        apply(diff);
    };
    k8s_sd::Discoverer discoverer(io.get_executor(), config, on_diff,
                                  {.directory = "/var/lib/agent/sd"});
    //]
}

}  // namespace snippets::warm_start
