#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/status.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// Collects the status of servers; counts each provider and each shared watch once.
class ServerCollector {
 public:
    void add(const JobConfigStatus& config) {
        if (config.origin != TargetOrigin::kubernetes) return;
        if (config.provider && !providers_.insert(*config.provider).second) return;
        ServerHealth& server = find(config.status.cluster, config.status.server);
        ++server.configs;
        if (!config.provider) ++server.unusable;
        server.synced = server.synced && config.provider && config.status.synced;
        server.groups += config.groups;
        server.targets += config.targets;
        if (config.status.error && !server.error) {
            server.error = config.status.error;
            server.message = config.status.message;
            server.since = config.status.since;
        }
        for (const WatchStatus& watch : config.status.watches) add(server, watch);
    }
    std::vector<ServerHealth> take() && { return std::move(servers_); }

 private:
    using Watch = std::tuple<std::string_view, std::string_view, Kind, std::string_view>;

    ServerHealth& find(const std::string& cluster, const std::string& url) {
        const auto [it, added] = indices_.try_emplace({cluster, url}, servers_.size());
        if (!added) return servers_[it->second];
        ServerHealth& server = servers_.emplace_back();
        server.cluster = cluster;
        server.server = url;
        server.synced = true;
        return server;
    }
    void add(ServerHealth& server, const WatchStatus& watch) {
        if (!watches_.emplace(watch.cluster, watch.server, watch.kind, watch.ns).second) return;
        ++server.watches;
        if (watch.error) ++server.failing_watches;
        server.objects += watch.objects;
    }

    std::vector<ServerHealth> servers_;
    std::map<std::pair<std::string, std::string>, std::size_t> indices_;
    std::set<ProviderId> providers_;
    std::set<Watch> watches_;
};

}  // namespace

std::vector<ServerHealth> servers_of(const std::vector<JobStatus>& jobs,
                                     const std::vector<ServerUsage>& usage) {
    ServerCollector collector;
    for (const JobStatus& job : jobs) {
        for (const JobConfigStatus& config : job.configs) collector.add(config);
    }
    std::map<std::string_view, const ServerUsage*> usages;
    for (const ServerUsage& one : usage) usages.emplace(one.server, &one);
    std::vector<ServerHealth> servers = std::move(collector).take();
    for (ServerHealth& server : servers) {
        const auto own = usages.find(server.server);
        if (own != usages.end()) server.usage = *own->second;
    }
    return servers;
}

}  // namespace k8s_sd::inline v0
