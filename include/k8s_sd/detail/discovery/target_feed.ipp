#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/discovery/kubernetes_feed.hpp"
#include "k8s_sd/detail/discovery/sources/file_targets.hpp"
#include "k8s_sd/detail/discovery/sources/http_targets.hpp"
#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/error.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

struct ProviderResolver {
    ResolvedProvider operator()(const DiscoveryConfig& config) const {
        return KubernetesTargets{resolve(config, files), config.role};
    }
    ResolvedProvider operator()(const TargetSource& source) const { return source; }
    ResolvedProvider operator()(const StaticConfigs& configs) const {
        for (std::size_t i = 0; i < configs.size(); ++i) check(configs[i], i);
        return configs;
    }
    ResolvedProvider operator()(const FileSdConfig& config) const {
        validate(config);
        return config;
    }
    ResolvedProvider operator()(const HttpSdConfig& config) const {
        return resolve_http_sd(config);
    }

    static void check(const StaticConfig& config, std::size_t index) {
        try {
            validate(config);
        } catch (const ConfigError& e) {
            throw ConfigError("static_configs[" + std::to_string(index) + "]." + e.where(),
                              e.problem());
        }
    }

    const InClusterFiles& files;
};

struct FeedMaker {
    std::unique_ptr<TargetFeed> operator()(const KubernetesTargets& targets) const {
        return std::make_unique<KubernetesFeed>(executor, targets, warm_start);
    }
    std::unique_ptr<TargetFeed> operator()(const TargetSource& source) const {
        return feed(Access::shared_impl(source), nullptr);
    }
    std::unique_ptr<TargetFeed> operator()(const StaticConfigs& configs) const {
        const auto source = std::make_shared<SourceState>();
        source->set(static_groups(configs));
        return feed(source, nullptr);
    }
    std::unique_ptr<TargetFeed> operator()(const FileSdConfig& config) const {
        const auto source = std::make_shared<SourceState>();
        return feed(source,
                    std::make_shared<FileTargets>(strand, context.with_new_seed(), config, source));
    }
    std::unique_ptr<TargetFeed> operator()(const HttpSdConfig& config) const {
        const auto source = std::make_shared<SourceState>();
        return feed(source,
                    std::make_shared<HttpTargets>(strand, context.with_new_seed(), config, source));
    }
    std::unique_ptr<TargetFeed> feed(std::shared_ptr<SourceState> source,
                                     std::shared_ptr<SourceDriver> driver) const {
        return std::make_unique<SourceFeed>(std::move(source), strand, context.clock(),
                                            std::move(driver));
    }

    const asio::any_io_executor& executor;
    const WarmStart& warm_start;
    ContextEnvironment& context = ContextEnvironment::of(executor);
    const asio::any_io_executor strand = make_own_strand(executor);
};

}  // namespace

ResolvedProvider resolve_provider(const ProviderConfig& config, const InClusterFiles& files) {
    return std::visit(ProviderResolver{files}, config);
}

ResolvedProvider provider_key(const ResolvedProvider& provider) {
    ResolvedProvider key = provider;
    if (auto* targets = std::get_if<KubernetesTargets>(&key)) {
        ApiServerConfig& server = targets->config.scope.api_server;
        server = configured_server(server);
    }
    return key;
}

std::unique_ptr<TargetFeed> make_feed(const asio::any_io_executor& executor,
                                      const ResolvedProvider& provider,
                                      const WarmStart& warm_start) {
    return std::visit(FeedMaker{executor, warm_start}, provider);
}

}  // namespace k8s_sd::inline v0::detail
