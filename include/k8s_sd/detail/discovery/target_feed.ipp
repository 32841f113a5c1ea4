#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"
#include "k8s_sd/detail/discovery/sources/file_targets.hpp"
#include "k8s_sd/detail/discovery/sources/http_targets.hpp"
#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/sharing/discoverer_status.hpp"
#include "k8s_sd/error.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The target groups of one role of a GroupWatcher.
class KubernetesFeed final : public TargetFeed {
 public:
    KubernetesFeed(const asio::any_io_executor& executor, const KubernetesTargets& targets,
                   const WarmStart& warm_start)
        : targets_(targets),
          warm_start_(warm_start),
          watcher_(GroupWatcher::acquire(executor, targets.config)) {}
    ~KubernetesFeed() override {
        if (warm_) warm_->stop();
    }

    void start(std::weak_ptr<GroupWatcher::Observer> observer) override {
        if (subscription_) return;
        if (!warm_start_.directory.empty()) {
            warm_ = std::make_shared<WarmTargets>(*watcher_, targets_.config, targets_.role,
                                                  warm_start_, std::move(observer));
            warm_->start();
            observer = warm_;
        }
        subscription_ = watcher_->subscribe(targets_.role, std::move(observer));
    }
    DiscovererStatus status() const override {
        DiscovererStatus status = discoverer_status(subscription_.status());
        status.cluster = targets_.config.view.cluster.name;
        if (status.server.empty()) status.server = targets_.config.scope.api_server.url;
        if (warm_) warm_->add_status(status);
        return status;
    }
    void recheck() override { GroupRegistry::recheck(watcher_); }

 private:
    const KubernetesTargets targets_;
    const WarmStart warm_start_;
    const std::shared_ptr<GroupWatcher> watcher_;
    std::shared_ptr<WarmTargets> warm_;  // null: no snapshot, or not started
    GroupWatcher::Subscription subscription_;
};

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
