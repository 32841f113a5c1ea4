#pragma once

#include "k8s_sd/detail/base/delivery.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/discovery/provider.hpp"
#include "k8s_sd/detail/discovery/provider_config.hpp"
#include "k8s_sd/discovery_manager.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class JobState;

/// What a job has from one provider, and what its host has not yet been told of that. It costs
/// nothing for each group.
class ProviderSubscription {
 public:
    enum class Standing {
        wanted,      ///< of the job's configuration
        superseded,  ///< no longer, but its successor has no state yet
        going        ///< gone, but the host has not been told yet
    };

    ProviderSubscription(JobState& job, std::shared_ptr<Provider> provider)
        : job_(job), provider_(std::move(provider)) {
        provider_->add(*this);
    }
    ~ProviderSubscription() { provider_->remove(*this); }
    ProviderSubscription(const ProviderSubscription&) = delete;
    ProviderSubscription& operator=(const ProviderSubscription&) = delete;

    JobState& job() const noexcept { return job_; }
    const std::shared_ptr<Provider>& provider() const noexcept { return provider_; }
    /// Whether its groups belong to the job's state.
    bool counts() const noexcept { return standing != Standing::going && provider_->ready(); }
    /// Whether the host has heard of it.
    bool told() const noexcept { return pending_ != nullptr; }
    /// It goes, and the host has never heard of it.
    bool idle() const noexcept { return standing == Standing::going && !told(); }

    bool has_news() const noexcept {
        if (standing == Standing::going) return told();
        return told() ? !pending_->empty() || is_to_confirm() : provider_->ready();
    }
    /// Takes the news.
    ProviderDiff take();

    void want() noexcept {
        standing = Standing::wanted;
        superseded_at_.reset();
    }
    void supersede(TimePoint now) noexcept {
        standing = Standing::superseded;
        superseded_at_ = now;
    }
    /// What was listed and to take its place goes itself: the time counts on.
    void supersede_again() noexcept {
        if (standing == Standing::going && superseded_at_) standing = Standing::superseded;
    }
    /// Since when it has been superseded; for one that is.
    TimePoint superseded_at() const noexcept { return *superseded_at_; }

    Standing standing = Standing::wanted;

 private:
    /// What the host was told from a snapshot has been confirmed.
    bool is_to_confirm() const noexcept { return told_unconfirmed_ && !provider_->unconfirmed(); }

    JobState& job_;
    const std::shared_ptr<Provider> provider_;
    std::shared_ptr<const PendingChanges> pending_;  // null: the host has not heard of it
    bool told_unconfirmed_ = false;
    std::optional<TimePoint> superseded_at_{};
};

/// One job: its configurations, and its stream of diffs. Decides what a new configuration keeps,
/// adds and removes. Guarded by the manager's mutex.
class JobState {
 public:
    /// One of the configurations of a job.
    struct Entry {
        ProviderConfig config;
        std::shared_ptr<Provider> provider;  ///< null: it cannot be used
        std::string problem;                 ///< why
        /// It took the place of others, which stay until it has been listed.
        bool awaited = false;
    };

    explicit JobState(std::string name) : name_(std::move(name)) {}
    const std::string& name() const noexcept { return name_; }
    const std::vector<std::unique_ptr<ProviderSubscription>>& subscriptions() const noexcept {
        return subscriptions_;
    }

    /// What holds for all configurations of a job.
    struct Times {
        Duration interval{0};  ///< between two diffs
        std::optional<Duration> supersede_timeout{};
    };

    /// Makes these the configurations.
    void configure(std::vector<Entry>, const Times&, TimePoint now);
    /// There is no such job any more.
    void end();
    bool ended() const noexcept { return ended_; }
    /// Whether the host has heard of it.
    bool begun() const noexcept { return pace_.begun(); }

    /// A provider of a subscription has become ready.
    void on_ready(const Provider&);

    /// When targets go whose configuration has been superseded for too long.
    std::optional<TimePoint> supersede_end() const;
    /// That time has come.
    void end_superseded(TimePoint now);

    bool has_news() const;
    /// When the news may be delivered.
    TimePoint due(TimePoint now) const;
    /// The news, of which there are some; without the name.
    JobDiff take(TimePoint now);
    /// Whether the host still has the diff that it was given last; see JobDiff::turn.
    bool busy() const noexcept { return !turn_.expired(); }
    void begin_turn(const std::shared_ptr<const void>& turn) noexcept { turn_ = turn; }

    JobStatus status() const;
    JobSnapshot snapshot() const;
    std::vector<ProviderId> providers() const;

 private:
    std::optional<TimePoint> supersede_end(const ProviderSubscription&) const;
    void take_standing(bool added, TimePoint now);
    bool uses(const Provider&) const;
    bool subscribes_to(const Provider&) const;
    const Entry* find_same(const Entry&) const;
    bool adopt(std::vector<Entry>&) const;
    void release_superseded();

    const std::string name_;
    std::vector<Entry> entries_;
    std::vector<std::unique_ptr<ProviderSubscription>> subscriptions_;
    Pace pace_;
    std::optional<Duration> supersede_timeout_;
    std::weak_ptr<const void> turn_;
    bool ended_ = false;
};

}  // namespace k8s_sd::inline v0::detail
