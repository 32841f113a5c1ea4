#pragma once

#include "jobs/expected_providers.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/target_groups.hpp"
#include "lists/listing.hpp"
#include "lists/unique_targets.hpp"
#include "table/change_recorder.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// The numbers of targets of a job.
struct JobTargetCounts {
    std::size_t discovered = 0, active = 0, dropped = 0, failed = 0;

    /// Whether all targets, if any, are dropped.
    bool none() const noexcept { return active == 0 && failed == 0; }
};

/// The numbers of targets of a job with a filter. Changes of targets left out make no diff, so
/// their number is read again each time.
class LiveCounts {
 public:
    using Providers = std::vector<std::shared_ptr<const k8s_sd::LiveTargets>>;

    LiveCounts() = default;
    /// \param counts     as if there were no other targets than those of the diffs
    /// \param delivered  the number of targets in the diffs of these providers
    LiveCounts(JobTargetCounts counts, Providers providers, std::size_t delivered)
        : counts_(counts), providers_(std::move(providers)), delivered_(delivered) {}

    JobTargetCounts now() const;

 private:
    JobTargetCounts counts_{};
    Providers providers_{};  ///< those with a filter
    std::size_t delivered_ = 0;
};

/// The targets of one job, as discovered and after relabelling, and its lists. A list is created on
/// its first request and then follows the diffs: only changed targets are serialised. For a job
/// with a filter the table has the targets left out, too; the lists do not. Not thread-safe; no
/// I/O.
class JobTargets final : private k8s_sd::TargetHandler {
 public:
    /// \param metrics  must outlive it, like `history`; `history` may be null
    /// \throws k8s_sd::ConfigError like TargetBuilder
    JobTargets(k8s_sd::ScrapeConfig, const ListLimits&, ListMetrics& metrics,
               ChangeHistory* history = nullptr);

    /// Changes the rules. \param providers  see TargetPool::reload()
    void reload(k8s_sd::ScrapeConfig, std::span<const k8s_sd::ProviderId> providers);
    /// The targets are complete once each of these providers has delivered its own; later changes
    /// do not undo that.
    void expect(ExpectedProviders);
    /// From now on the targets of one cluster are enough.
    void accept_missing_clusters();
    /// Whether accept_missing_clusters() makes a difference.
    bool may_lack_clusters() const noexcept;
    /// Makes the targets incomplete until expect(), as if they had just been created.
    void begin_anew();
    /// \param diff  not the last diff of the job
    void apply(const k8s_sd::JobDiff& diff);

    /// Whether lists are served.
    bool complete() const noexcept { return complete_; }
    /// Of several clusters those without targets, even earlier ones.
    std::vector<std::string> missing_clusters() const;
    /// \throws LimitReached
    ListBodyPtr body(const ListContent&, const ListSelection&, Listing::TimePoint now);
    /// The number of targets in such a list.
    /// \throws LimitReached
    std::size_t count(const ListContent&, const ListSelection&, Listing::TimePoint now);
    /// The outcome for each discovered target, complete or not; see TargetTable::advance(). Created
    /// on demand. Valid until the next call of another function.
    TargetTable& table(Listing::TimePoint now);
    /// A possible mistake in a list just returned by body(), in words; empty: none. Names of labels
    /// and nodes may appear later, so these are not errors.
    std::string warning(const ListContent&, const ListSelection&) const;
    /// The job's configuration, without a limit of dropped targets.
    const k8s_sd::ScrapeConfig& config() const noexcept { return builder_->config(); }
    k8s_sd::TargetBuilder& builder() noexcept { return *builder_; }
    /// See Listing::known_tag(); nullopt: there is no such list.
    std::optional<std::string> known_tag(const ListContent&, const ListSelection&) const;
    /// Drops unused lists and selections, and the table if it is unused.
    void forget_unused(Listing::TimePoint now);
    /// Whether forget_unused() may find something.
    bool keeps_something() const noexcept;
    JobTargetCounts counts() const { return live_counts().now(); }
    LiveCounts live_counts() const;
    /// All groups, those left out by the job's filter included.
    std::vector<k8s_sd::TargetGroupPtr> all_groups() const;
    /// The address of a target that cannot be scraped, and the reason, in words; empty: there is
    /// none.
    std::string failure() const;

 private:
    using SharedConfig = std::shared_ptr<const k8s_sd::ScrapeConfig>;

    JobTargets(const SharedConfig&, const ListLimits&, ListMetrics&, ChangeHistory*);

    /// The state of one provider.
    struct Provider {
        k8s_sd::TargetGroups groups{};
        std::shared_ptr<k8s_sd::TargetBuilder>
            builder;  ///< with the rules for the groups, as in the pool
        std::shared_ptr<const k8s_sd::LiveTargets> all{};  ///< null: no filter
        /// The groups left out that the table has, by source.
        std::unordered_map<std::string_view, k8s_sd::TargetGroupPtr> left_out{};
    };

    /// The usage of a choice of `__meta_*` labels.
    struct Choice {
        Listing::TimePoint first, last;  ///< time of a request
        UnusedNames unused{};
    };

    // Called by the pool.
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;

    Listing& listing(const ListContent&, Listing::TimePoint now);
    void admit(const ListContent&, Listing::TimePoint now);
    bool makes_room(const Choice&, Listing::TimePoint now) const;
    void fill(Listing&, const ListContent&);
    void apply(const k8s_sd::ProviderDiff&);
    void list_changes(const k8s_sd::ProviderDiff&, k8s_sd::TargetBuilder&);
    void list_group(Listing&, const ListContent&, const std::string& key,
                    const k8s_sd::TargetGroupPtr&, k8s_sd::TargetBuilder&);
    std::vector<ListedTarget> listed(const ListContent&, const k8s_sd::TargetGroupPtr&,
                                     k8s_sd::TargetBuilder&) const;
    void see_names(const ListContent&, const k8s_sd::TargetGroup&);
    void update_table(const k8s_sd::ProviderDiff&);
    void follow_left_out(k8s_sd::ProviderId, Provider&);
    void drop_table();
    bool has(const std::vector<k8s_sd::ProviderId>&) const;
    bool has(const ExpectedProviders::Cluster&) const;
    bool has_enough() const;
    void update_complete();
    void finish_changes(bool full);
    std::string why_gone(const k8s_sd::ScrapeTarget&);

    const ListLimits limits_;
    ListMetrics& metrics_;
    std::shared_ptr<k8s_sd::TargetBuilder> builder_;    ///< for new groups
    std::map<k8s_sd::ProviderId, Provider> providers_;  ///< providers with delivered targets
    std::map<ListContent, Listing> listings_;           ///< lists in use
    std::map<ListContent, Choice> choices_;             ///< those with `meta`
    UniqueTargets unique_;  ///< of the list of collectors, if that exists
    std::optional<TargetTable> table_;
    Listing::TimePoint table_asked_{};
    std::optional<ExpectedProviders> expected_;
    /// Replaced providers of clusters, by name: they may have targets until others have.
    std::map<std::string, std::vector<k8s_sd::ProviderId>> earlier_;
    bool accepts_missing_clusters_ = false;
    bool complete_ = false;
    ChangeRecorder recorder_;
    k8s_sd::TargetPool pool_;
};

}  // namespace k8s_sd_program
