#pragma once

#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/discovery/job_state.hpp"
#include "k8s_sd/detail/discovery/provider.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/discovery_manager.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The providers of a manager: one for each distinct configuration. Owned by the subscriptions of
/// the jobs. Reads files; not thread-safe.
class ProviderPool {
 public:
    explicit ProviderPool(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// Applies to future providers.
    void set_warm_start(const WarmStart& options) { warm_start_ = options; }
    /// Reuses the running provider, if there is one. An unusable configuration yields an entry with
    /// a problem.
    JobState::ProviderEntry find_or_make(const ProviderConfig& config,
                                         const std::weak_ptr<Provider::Observer>& observer) {
        JobState::ProviderEntry entry;
        entry.origin = origin_of(config);
        if (const auto* discovery = std::get_if<DiscoveryConfig>(&config))
            entry.cluster = discovery->cluster.name;
        try {
            entry.provider = provider_of(config, observer);
        } catch (const ConfigError& e) {
            entry.unusable = std::make_shared<const ProviderConfig>(config);
            entry.problem = e.what();
        }
        return entry;
    }

    /// Number of providers.
    std::size_t size() const { return providers_.size(); }

 private:
    std::shared_ptr<Provider> provider_of(const ProviderConfig& config,
                                          const std::weak_ptr<Provider::Observer>& observer) {
        const ContextEnvironment& context = ContextEnvironment::of(executor_);
        const ResolvedProvider resolved = resolve_provider(config, context.in_cluster());
        const ResolvedProvider key = provider_key(resolved);
        auto provider = providers_.find(key);
        if (!provider) return make_provider(key, resolved, observer);
        provider->recheck();
        return provider;
    }
    std::shared_ptr<Provider> make_provider(const ResolvedProvider& key,
                                            const ResolvedProvider& resolved,
                                            const std::weak_ptr<Provider::Observer>& observer) {
        auto provider =
            std::make_unique<Provider>(++last_id_, make_feed(executor_, resolved, warm_start_),
                                       ContextEnvironment::of(executor_).metrics(), observer);
        // Jobs release it under the mutex of the manager, and its destructor may run host code,
        // such as that of a TokenSource; so post the destruction.
        return providers_.add(key, std::move(provider), [executor = executor_](Provider* last) {
            asio::post(executor, [owned = std::unique_ptr<Provider>(last)] {});
        });
    }

    const asio::any_io_executor executor_;
    WarmStart warm_start_;
    WeakMap<ResolvedProvider, Provider> providers_;
    ProviderId last_id_ = 0;
};

/// The configurations of the jobs of one call. Equal ones are resolved once. Those that jobs share,
/// as a thousand monitors do, are known by their address: their values are not even compared.
class ProviderEntries {
 public:
    using Entry = JobState::ProviderEntry;
    /// With the index in its member of Job.
    using Numbered = std::pair<const Entry*, std::size_t>;

    /// \param pool  must outlive this
    ProviderEntries(ProviderPool& pool, std::weak_ptr<Provider::Observer> observer)
        : pool_(pool), observer_(std::move(observer)) {}

    /// Of all configurations of a job, in the order of JobStatus::configs.
    /// \param job  must outlive this
    std::vector<Numbered> of(const Job& job) {
        std::vector<Numbered> all;
        const auto add = [&](const auto& configs) {
            for (std::size_t i = 0; i < configs.size(); ++i)
                all.emplace_back(&entry_of(configs[i]), i);
        };
        for (std::size_t i = 0; i < job.configs.size(); ++i) {
            const Entry*& entry = by_address_[&job.configs[i]];
            if (!entry) entry = &entry_of(provider_config(job.configs[i]));
            all.emplace_back(entry, i);
        }
        add(job.sources);
        if (!job.static_configs.empty()) all.emplace_back(&entry_of(job.static_configs), 0);
        add(job.file_sd_configs);
        add(job.http_sd_configs);
        return all;
    }

 private:
    const Entry& entry_of(ProviderConfig config) {
        if (const auto known = by_value_.find(config); known != by_value_.end()) {
            return known->second;
        }
        Entry entry = pool_.find_or_make(config, observer_);
        return by_value_.emplace(std::move(config), std::move(entry)).first->second;
    }

    ProviderPool& pool_;
    const std::weak_ptr<Provider::Observer> observer_;
    std::map<ProviderConfig, Entry> by_value_;
    std::unordered_map<const DiscoveryConfig*, const Entry*> by_address_;
};

}  // namespace k8s_sd::inline v0::detail
