#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/inventory/cluster_profile.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/selector.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

void check_consumer(const std::string& consumer) {
    if (consumer.empty()) return;
    std::vector<LabelSelector::Requirement> parsed;
    try {
        parsed = LabelSelector::parse("key=" + consumer).requirements();
    } catch (const ConfigError&) {
        parsed.clear();
    }
    if (parsed.size() == 1 && parsed[0].values == std::vector<std::string>{consumer}) return;
    throw ConfigError("consumer", "must be the value of a label: at most 63 letters, digits, '-', "
                                  "'_' and '.', such as \"k8s-sd\"");
}

const InventoryConfig& checked_inventory(const InventoryConfig& config) {
    for (const auto& [name, auth] : config.access_providers) {
        if (name.empty()) throw ConfigError("access_providers", "has a provider without a name");
        detail::check_auth("access_providers[" + name + "]", auth);
    }
    for (std::size_t i = 0; i < config.secret_namespaces.size(); ++i) {
        detail::check_namespace_name("secret_namespaces[" + std::to_string(i) + "]",
                                     config.secret_namespaces[i]);
    }
    check_consumer(config.consumer);
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
    // Conditions change with each heartbeat.
    profiles.fields = {
        "metadata.uid",           "spec.displayName",          "spec.clusterManager.name",
        "status.properties",      "status.conditions.type",    "status.conditions.status",
        "status.accessProviders", "status.credentialProviders"};
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

/// How long the first diff waits for Secrets.
constexpr Duration secrets_timeout = std::chrono::seconds(30);

/// Whether retries do not help soon.
bool is_refusal(error_code error) {
    return error == errc::forbidden || error == errc::unauthorized || error == errc::not_found;
}

}  // namespace

/// Watchers on its strand; the clusters are guarded by the mutex.
class ClusterInventory::Impl final : public detail::RunState {
 public:
    Impl(const executor_type& executor, const InventoryConfig& config, Callback callback)
        : RunState(executor, detail::make_own_strand(executor),
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
        for (const auto& [name, cluster] : clusters_) all.push_back(*cluster);
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
                          [](const auto& entry) { return !entry.second->api_server.url.empty(); }));
        return status;
    }

 private:
    using SecretPtr = std::shared_ptr<const api::Secret>;
    using Secrets = std::map<ProfileName, SecretPtr>;  ///< by namespace and name
    using ClusterPtr = std::shared_ptr<const InventoryCluster>;

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
        post_end(strand_, [self = self_as(this)] {
            self->profiles_watcher_.reset();
            self->secrets_watcher_.reset();
            self->timer_.reset();
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
        timer_ = clock().make_timer(strand_);
        timer_->expires_at(detail::due_after(clock().now(), secrets_timeout),
                           detail::if_alive(std::weak_ptr(self_as(this)), [](Impl& self) {
                               self.is_time_up_ = true;
                               if (!self.cancelled()) self.update();
                           }));
    }

    void on_profiles(const ObjectDiff<Generic>& diff) {
        if (cancelled()) return;
        if (diff.full) {
            for (const auto& [name, profile] : profiles_) stale_.insert(name);
            profiles_.clear();
        }
        for (const auto& profile : diff.removed) put(profile_name_of(*profile), nullptr);
        for (const auto& profile : diff.added) put(profile_name_of(*profile), profile);
        for (const auto& [before, after] : diff.changed) put(profile_name_of(*after), after);
        profiles_listed_ = true;
        update();
    }
    void put(ProfileName name, std::shared_ptr<const Generic> profile) {
        profile ? void(profiles_[name] = std::move(profile)) : void(profiles_.erase(name));
        stale_.insert(std::move(name));
    }

    void on_secrets(const ObjectDiff<api::Secret>& diff) {
        if (cancelled()) return;
        // The texts of problems say whether Secrets can be read.
        if (!std::exchange(secrets_listed_, true)) redo_problems();
        if (diff.full) {
            while (!profiles_of_secrets_.empty()) forget(profiles_of_secrets_.begin()->first);
        }
        for (const auto& secret : diff.removed) forget(profile_name_of(*secret));
        for (const auto& secret : diff.added) keep(secret);
        for (const auto& [before, after] : diff.changed) keep(after);
        update();
    }
    void forget(ProfileName secret) {
        const auto known = profiles_of_secrets_.find(secret);
        if (known == profiles_of_secrets_.end()) return;
        const auto fitting = secrets_.find(known->second);
        fitting->second.erase(secret);
        if (fitting->second.empty()) secrets_.erase(fitting);
        redo(known->second);
        profiles_of_secrets_.erase(known);
    }
    void keep(const SecretPtr& secret) {
        ProfileName name = profile_name_of(*secret);
        forget(name);
        const ProfileName profile = profile_of(*secret);
        secrets_[profile].emplace(name, secret);
        profiles_of_secrets_.emplace(std::move(name), profile);
        redo(profile);
    }

    void on_status(const DiscovererStatus& status, DiscovererStatus Impl::*known) {
        if (cancelled()) return;
        {
            const std::lock_guard lock(mutex_);
            this->*known = status;
        }
        if (known != &Impl::secrets_status_ || secrets_listed_) return;
        redo_problems();
        update();
    }

    /// A Secret that cannot be read does not hold back other clusters.
    bool is_ready() const {
        return profiles_listed_ && (!secrets_watcher_ || secrets_listed_ || is_time_up_ ||
                                    is_refusal(secrets_status_.error));
    }

    /// \param profile  without a namespace: of any
    void redo(const ProfileName& profile) {
        if (!profile.first.empty()) {
            stale_.insert(profile);
            return;
        }
        for (const auto& [name, known] : profiles_) {
            if (name.second == profile.second) stale_.insert(name);
        }
    }
    void redo_problems() {
        for (const auto& [name, cluster] : clusters_) {
            if (!cluster->problem.empty()) stale_.insert(name);
        }
    }

    void update() {
        if (!is_ready()) return;
        std::map<ProfileName, ClusterPtr> changes;
        for (const ProfileName& name : stale_) {
            const auto profile = profiles_.find(name);
            changes[name] = profile == profiles_.end() ? nullptr : cluster_of(*profile->second);
        }
        const std::lock_guard lock(mutex_);
        for (const auto& [name, cluster] : changes) {
            changed_.insert(name);
            cluster ? void(clusters_[name] = cluster) : void(clusters_.erase(name));
        }
        stale_.clear();  // not before: without memory, the next update repeats it
        synced_ = true;
        if (has_news() && !cancelled()) wake();
    }

    ClusterPtr cluster_of(const Generic& profile) const {
        const ProfileName name = profile_name_of(profile);
        InventoryCluster cluster = detail::described_cluster(profile);
        try {
            const SecretPtr secret = secret_of(name);
            cluster.api_server = secret ? detail::server_of_secret(*secret)
                                        : detail::server_of_profile(profile, config_);
        } catch (const ConfigError& e) {
            cluster.problem = e.what();
            if (secrets_watcher_ && !secrets_listed_) {
                cluster.problem += "; Secrets cannot be read: ";
                cluster.problem +=
                    secrets_status_.error ? secrets_status_.message : "there is no response yet";
            }
            // Stale access is better than none, but not that of a deleted ClusterProfile.
            const auto before = clusters_.find(name);
            if (before != clusters_.end() && before->second->uid == cluster.uid)
                cluster.api_server = before->second->api_server;
        }
        return std::make_shared<const InventoryCluster>(std::move(cluster));
    }

    /// The profile of a Secret; without a namespace: of any. Only Secrets in namespaces of
    /// the configuration may name a namespace: otherwise writers of Secrets in one namespace
    /// could choose the servers of another.
    ProfileName profile_of(const api::Secret& secret) const {
        const api::StringMap& labels = secret.metadata.labels;
        const std::string_view ns = config_.secret_namespaces.empty()
                                        ? std::string_view(secret.metadata.namespace_)
                                        : labels.find(detail::profile_namespace_label).value_or("");
        return {std::string(ns), std::string(labels.find(detail::profile_label).value_or(""))};
    }
    /// Secrets that name the namespace come first, then those of the profile's own namespace.
    SecretPtr secret_of(const ProfileName& profile) const {
        for (const std::string& ns : {profile.first, std::string()}) {
            const auto fitting = secrets_.find({ns, profile.second});
            if (fitting == secrets_.end()) continue;
            const auto own = fitting->second.lower_bound({profile.first, ""});
            const bool has_own = own != fitting->second.end() && own->first.first == profile.first;
            return (has_own ? own : fitting->second.begin())->second;
        }
        return nullptr;
    }

    // --- delivery -----------------------------------------------------------------------------

    /// Under the mutex.
    bool has_news() const { return synced_ && (!is_delivered_ || !changed_.empty()); }

    bool deliver_next(TimePoint now) override {
        InventoryDiff diff;
        {
            const std::lock_guard lock(mutex_);
            if (cancelled() || !has_news()) return false;
            diff = take_news(now);
        }
        if (!diff.full && diff.updated.empty() && diff.removed.empty()) return false;
        callback_(diff);
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        if (!has_news()) return std::nullopt;
        return std::max(now, retry_at_);
    }

    /// Without memory, the news are taken after a pause.
    InventoryDiff take_news(TimePoint now) try {
        InventoryDiff diff;
        diff.full = !is_delivered_;
        std::map<ProfileName, ClusterPtr> delivered = delivered_;
        for (const ProfileName& name : changed_) {
            const auto present = clusters_.find(name);
            if (present == clusters_.end()) {
                const auto gone = delivered.extract(name);
                if (gone) diff.removed.push_back(*gone.mapped());
                continue;
            }
            ClusterPtr& before = delivered[name];
            if (!before || *before != *present->second) diff.updated.push_back(*present->second);
            before = present->second;
        }
        delivered_.swap(delivered);
        changed_.clear();
        is_delivered_ = true;
        return diff;
    } catch (...) {
        retry_at_ = detail::due_after(now, detail::Reminder::pause);
        throw;
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
    std::map<ProfileName, Secrets> secrets_;  ///< by profile
    std::map<ProfileName, ProfileName> profiles_of_secrets_;
    std::set<ProfileName> stale_;  ///< clusters to make again
    bool profiles_listed_ = false;
    bool secrets_listed_ = false;
    bool is_time_up_ = false;       ///< secrets_timeout has passed
    std::unique_ptr<Timer> timer_;  ///< null: not begun, ended, or without Secrets

    // Written on the strand, under the mutex.
    DiscovererStatus profiles_status_;
    DiscovererStatus secrets_status_;
    std::map<ProfileName, ClusterPtr> clusters_;
    bool synced_ = false;

    // Guarded by the mutex.
    std::map<ProfileName, ClusterPtr> delivered_;
    std::set<ProfileName> changed_;  ///< perhaps different from the delivered clusters
    bool is_delivered_ = false;
    TimePoint retry_at_ = TimePoint::min();  ///< of news that could not be taken
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
    const std::pair<const char*, bool> given[] = {
        {"api_server", config.api_server != ApiServerConfig{}},
        {"kubeconfig_file", !config.kubeconfig_file.empty()},
        {"kubeconfig_context", !config.kubeconfig_context.empty()},
        {"cluster.name", !config.cluster.name.empty()}};
    for (const auto& [field, is_set] : given) {
        if (is_set) throw ConfigError(field, "must not be set: it comes from the inventory");
    }
    std::vector<DiscoveryConfig> configs;
    for (const InventoryCluster& cluster : clusters) {
        if (cluster.api_server.url.empty()) continue;
        DiscoveryConfig& one = configs.emplace_back(config);
        one.api_server = cluster.api_server;
        one.cluster.name = cluster.ns + "/" + cluster.name;
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
