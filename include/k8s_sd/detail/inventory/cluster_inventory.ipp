#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/inventory/cluster_profile.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

const InventoryConfig& checked_inventory(const InventoryConfig& config) {
    for (const auto& [name, auth] : config.access_providers)
        detail::check_auth("access_providers[" + name + "]", auth);
    return config;
}

WatcherConfig hub_of(const InventoryConfig& config) {
    WatcherConfig hub;
    hub.api_server = config.api_server;
    hub.kubeconfig_file = config.kubeconfig_file;
    hub.kubeconfig_context = config.kubeconfig_context;
    hub.watch = config.watch;
    return hub;
}

WatcherConfig watched_profiles(const InventoryConfig& config) {
    WatcherConfig profiles = hub_of(config);
    profiles.namespaces = config.namespaces;
    profiles.label_selector = config.label_selector;
    profiles.resource = {.group = std::string(detail::inventory_api_group),
                         .kind = "ClusterProfile",
                         .plural = "clusterprofiles",
                         .namespaced = true};
    profiles.fields = {"spec", "status"};
    return profiles;
}

WatcherConfig watched_secrets(const InventoryConfig& config) {
    WatcherConfig secrets = hub_of(config);
    secrets.namespaces =
        config.secret_namespaces.empty() ? config.namespaces : config.secret_namespaces;
    secrets.label_selector = std::string(detail::profile_label);
    if (!config.consumer.empty()) {
        secrets.label_selector += "," + std::string(detail::consumer_label) + "=" + config.consumer;
    }
    secrets.fields = {"metadata.labels", "data"};
    return secrets;
}

/// Namespace and name.
using ProfileName = std::pair<std::string, std::string>;

template <class T>
ProfileName profile_name_of(const T& object) {
    return {std::string(object.metadata.namespace_), std::string(object.metadata.name)};
}

/// Applies a diff to the objects by name.
template <class T>
void apply_diff(std::map<ProfileName, std::shared_ptr<const T>>& objects,
                const ObjectDiff<T>& diff) {
    if (diff.full) objects.clear();
    for (const auto& object : diff.removed) objects.erase(profile_name_of(*object));
    for (const auto& object : diff.added) objects[profile_name_of(*object)] = object;
    for (const auto& [before, after] : diff.changed) objects[profile_name_of(*after)] = after;
}

}  // namespace

/// Watchers on its strand; the clusters are guarded by the mutex.
class ClusterInventory::Impl final : public detail::RunState {
 public:
    Impl(const executor_type& executor, const InventoryConfig& config, Callback callback)
        : RunState(executor, asio::make_strand(executor),
                   detail::ContextEnvironment::of(executor).clock(), 1),
          strand_(origin()),
          config_(checked_inventory(config)),
          callback_(std::move(callback)) {
        // Fails for an unusable hub.
        make_watchers();
    }

    std::vector<InventoryCluster> clusters() const {
        const std::lock_guard lock(mutex_);
        std::vector<InventoryCluster> all;
        if (!synced_) return all;
        for (const auto& [name, cluster] : clusters_) all.push_back(cluster);
        return all;
    }
    InventoryStatus status() const {
        InventoryStatus status;
        const std::lock_guard lock(mutex_);
        status.synced = synced_;
        status.profiles = profiles_status_;
        status.secrets = secrets_status_;
        status.clusters = clusters_.size();
        status.usable = static_cast<std::size_t>(
            std::count_if(clusters_.begin(), clusters_.end(),
                          [](const auto& entry) { return !entry.second.api_server.url.empty(); }));
        return status;
    }

 private:
    /// A cluster, and what it was made of.
    struct Entry {
        std::shared_ptr<const Generic> profile;
        std::shared_ptr<const api::Secret> secret;  ///< null: none
        InventoryCluster cluster;
    };
    using SecretPtr = std::shared_ptr<const api::Secret>;

    /// A call on this object, unless it is destroyed or was never begun. Its watchers must not keep
    /// it alive.
    template <class Method, class... Arguments>
    auto guarded(Method method, Arguments... arguments) {
        return [known = self_, method, arguments...](const auto& event) {
            if (const auto self = known->lock()) ((*self).*method)(event, arguments...);
        };
    }

    void make_watchers() {
        profiles_watcher_.emplace(strand_, watched_profiles(config_), guarded(&Impl::on_profiles));
        if (!config_.secrets) return;
        secrets_watcher_.emplace(strand_, watched_secrets(config_), guarded(&Impl::on_secrets));
    }

    void begin() override {
        *self_ = self_as(this);
        asio::post(strand_, [self = self_as(this)] { self->start(); });
    }
    void on_ended() noexcept override {
        asio::post(strand_, [self = self_as(this)] {
            self->profiles_watcher_.reset();
            self->secrets_watcher_.reset();
        });
    }

    // --- on the strand ------------------------------------------------------------------------

    void start() {
        if (cancelled()) return;
        profiles_watcher_->set_status_callback(guarded(&Impl::on_status, &Impl::profiles_status_));
        profiles_watcher_->async_run(asio::detached);
        if (!secrets_watcher_) return;
        secrets_watcher_->set_status_callback(guarded(&Impl::on_status, &Impl::secrets_status_));
        secrets_watcher_->async_run(asio::detached);
    }

    void on_profiles(const ObjectDiff<Generic>& diff) {
        if (cancelled()) return;
        apply_diff(profiles_, diff);
        profiles_listed_ = true;
        update();
    }
    void on_secrets(const ObjectDiff<api::Secret>& diff) {
        if (cancelled()) return;
        apply_diff(secrets_, diff);
        secrets_listed_ = true;
        update();
    }
    void on_status(const DiscovererStatus& status, DiscovererStatus Impl::*known) {
        if (cancelled()) return;
        {
            const std::lock_guard lock(mutex_);
            this->*known = status;
        }
        update();
    }

    /// A Secret that cannot be read does not hold back other clusters.
    bool is_ready() const {
        return profiles_listed_ && (!secrets_watcher_ || secrets_listed_ || secrets_status_.error);
    }

    void update() {
        if (!is_ready()) return;
        const std::map<ProfileName, SecretPtr> secrets = secrets_by_profile();
        std::map<ProfileName, Entry> entries;
        std::map<ProfileName, InventoryCluster> now;
        for (const auto& [name, profile] : profiles_) {
            Entry& entry = entries[name];
            const auto known = entries_.find(name);
            if (known != entries_.end()) entry = known->second;
            refresh(entry, profile, secret_of(name, secrets));
            now.emplace(name, entry.cluster);
        }
        entries_.swap(entries);
        const std::lock_guard lock(mutex_);
        clusters_.swap(now);
        synced_ = true;
        if (has_news() && !cancelled()) wake();
    }

    void refresh(Entry& entry, const std::shared_ptr<const Generic>& profile, SecretPtr secret) {
        const bool is_same = entry.profile == profile && entry.secret == secret;
        // The text of a problem also depends on the watch of Secrets.
        if (is_same && entry.cluster.problem.empty()) return;
        entry.profile = profile;
        entry.secret = std::move(secret);
        InventoryCluster cluster = detail::described_cluster(*profile);
        try {
            cluster.api_server = entry.secret ? detail::server_of_secret(*entry.secret)
                                              : detail::server_of_profile(*profile, config_);
        } catch (const ConfigError& e) {
            cluster.problem = e.what();
            if (secrets_watcher_ && !secrets_listed_)
                cluster.problem += "; Secrets cannot be read: " + secrets_status_.message;
            // Stale access is better than none.
            cluster.api_server = entry.cluster.api_server;
        }
        entry.cluster = std::move(cluster);
    }

    /// For each profile the first Secret by name. The profile's namespace is empty if the Secret
    /// fits any.
    std::map<ProfileName, SecretPtr> secrets_by_profile() const {
        std::map<ProfileName, SecretPtr> secrets;
        for (const auto& [name, secret] : secrets_) {
            const api::StringMap& labels = secret->metadata.labels;
            const auto profile = labels.find(detail::profile_label);
            if (!profile) continue;
            const std::string_view own =
                config_.secret_namespaces.empty() ? secret->metadata.namespace_ : "";
            const auto ns = labels.find(detail::profile_namespace_label).value_or(own);
            secrets.try_emplace({std::string(ns), std::string(*profile)}, secret);
        }
        return secrets;
    }
    static SecretPtr secret_of(const ProfileName& profile,
                               const std::map<ProfileName, SecretPtr>& secrets) {
        auto found = secrets.find(profile);
        if (found == secrets.end()) found = secrets.find({"", profile.second});
        return found == secrets.end() ? nullptr : found->second;
    }

    // --- delivery -----------------------------------------------------------------------------

    /// Under the mutex.
    bool has_news() const { return synced_ && (!is_delivered_ || clusters_ != delivered_); }

    bool deliver_next(TimePoint) override {
        InventoryDiff diff;
        {
            const std::lock_guard lock(mutex_);
            if (cancelled() || !has_news()) return false;
            diff = take_news();
        }
        callback_(diff);
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        return has_news() ? std::optional(now) : std::nullopt;
    }

    InventoryDiff take_news() {
        InventoryDiff diff;
        diff.full = !std::exchange(is_delivered_, true);
        for (const auto& [name, cluster] : clusters_) {
            const auto before = delivered_.find(name);
            if (before == delivered_.end() || before->second != cluster)
                diff.updated.push_back(cluster);
        }
        for (const auto& [name, cluster] : delivered_) {
            if (!clusters_.contains(name)) diff.removed.push_back(cluster);
        }
        delivered_ = clusters_;
        return diff;
    }

    const asio::any_io_executor strand_;
    const InventoryConfig config_;
    const Callback callback_;
    /// This object, once it has begun.
    const std::shared_ptr<std::weak_ptr<Impl>> self_ = std::make_shared<std::weak_ptr<Impl>>();

    // Used on the strand only.
    std::optional<Watcher<Generic>> profiles_watcher_;
    std::optional<Watcher<api::Secret>> secrets_watcher_;  ///< empty: Secrets are not read
    std::map<ProfileName, std::shared_ptr<const Generic>> profiles_;
    std::map<ProfileName, std::shared_ptr<const api::Secret>> secrets_;
    std::map<ProfileName, Entry> entries_;
    bool profiles_listed_ = false;
    bool secrets_listed_ = false;

    // Written on the strand, under the mutex.
    DiscovererStatus profiles_status_;
    DiscovererStatus secrets_status_;
    std::map<ProfileName, InventoryCluster> clusters_;
    bool synced_ = false;

    // Guarded by the mutex.
    std::map<ProfileName, InventoryCluster> delivered_;
    bool is_delivered_ = false;
};

ClusterInventory::ClusterInventory(executor_type executor, const InventoryConfig& config,
                                   Callback callback) {
    detail::check_host_executor(executor, "ClusterInventory");
    detail::check_callback(callback, "ClusterInventory");
    impl_ = std::make_shared<Impl>(executor, config, std::move(callback));
}

ClusterInventory& ClusterInventory::operator=(ClusterInventory&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

ClusterInventory::~ClusterInventory() { cancel(); }

ClusterInventory::executor_type ClusterInventory::get_executor() const noexcept {
    return impl_->executor();
}

void ClusterInventory::run(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->run(std::move(handler));
}

void ClusterInventory::cancel() noexcept {
    if (impl_) impl_->cancel();
}

std::vector<InventoryCluster> ClusterInventory::clusters() const { return impl_->clusters(); }
InventoryStatus ClusterInventory::status() const { return impl_->status(); }

std::vector<DiscoveryConfig> configs_of_clusters(const DiscoveryConfig& config,
                                                 const std::vector<InventoryCluster>& clusters) {
    std::map<std::string_view, int> names;
    for (const InventoryCluster& cluster : clusters) ++names[cluster.name];
    std::vector<DiscoveryConfig> configs;
    for (const InventoryCluster& cluster : clusters) {
        if (cluster.api_server.url.empty()) continue;
        DiscoveryConfig& one = configs.emplace_back(config);
        one.api_server = cluster.api_server;
        one.kubeconfig_file.clear();
        one.kubeconfig_context.clear();
        one.cluster.name = names[cluster.name] > 1 ? cluster.ns + "/" + cluster.name : cluster.name;
    }
    return configs;
}

std::vector<AccessRule> required_access(const InventoryConfig& config) {
    std::vector<AccessRule> rules = required_access(watched_profiles(config));
    if (!config.secrets) return rules;
    for (AccessRule& rule : required_access(Kind::secret, watched_secrets(config)))
        rules.push_back(std::move(rule));
    return rules;
}

}  // namespace k8s_sd::inline v0
