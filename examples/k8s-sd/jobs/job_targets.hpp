#pragma once

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
#include <unordered_map>
#include <vector>

namespace bridge {

/// How many targets a job has.
struct TargetCounts {
    std::size_t discovered = 0, active = 0, dropped = 0, failed = 0;
};

/// The targets of one job, as discovered and after relabelling, and its lists. A list is made when
/// it is first asked for, and follows the diffs from then on: only what they bring is serialised.
/// Not thread-safe; no I/O.
class JobTargets final : private k8s_sd::TargetHandler {
 public:
    /// \param metrics  must outlive it, as `history`, which may be null
    /// \throws k8s_sd::ConfigError as TargetBuilder
    JobTargets(k8s_sd::ScrapeConfig, const ListLimits&, ListMetrics& metrics,
               ChangeHistory* history = nullptr);

    /// Other rules. \param providers  see TargetPool::reload()
    void reload(k8s_sd::ScrapeConfig, std::span<const k8s_sd::ProviderId> providers);
    /// The targets are complete as soon as each of these has told its own; that they were complete
    /// once is enough. nullopt: they cannot become complete.
    void expect(std::optional<std::vector<k8s_sd::ProviderId>> providers);
    /// Is not complete any more, until expect().
    void begin_anew();
    /// \param diff  not the last one of the job
    void apply(const k8s_sd::JobDiff& diff);

    bool complete() const noexcept { return complete_; }
    /// \throws LimitReached
    ListBodyPtr body(const ListContent&, const Selection&, Listing::TimePoint now);
    /// How many targets such a list has.
    /// \throws LimitReached
    std::size_t count(const ListContent&, const Selection&, Listing::TimePoint now);
    /// What became of each discovered target, complete or not; see TargetTable::advance(). Made
    /// when it is asked for. Valid until the next call of another function.
    TargetTable& table(Listing::TimePoint now);
    /// What may be wrong with a list that body() has just given, in words; empty: nothing. Names of
    /// labels and nodes may come to be later, so that they are no mistakes.
    std::string warning(const ListContent&, const Selection&) const;
    /// The job's configuration, without a limit of dropped targets.
    const k8s_sd::ScrapeConfig& config() const noexcept { return builder_->config(); }
    k8s_sd::TargetBuilder& builder() noexcept { return *builder_; }
    /// See Listing::known_tag(); nullopt where there is no such list.
    std::optional<std::string> known_tag(const ListContent&, const Selection&) const;
    /// Forgets the lists, selections and the table that nobody asks for any more.
    void forget_unused(Listing::TimePoint now);
    /// Whether there is something that forget_unused() may forget.
    bool keeps_something() const noexcept;
    TargetCounts counts() const;

 private:
    /// What one provider has told.
    struct Provider {
        k8s_sd::TargetGroups groups{};
        std::shared_ptr<k8s_sd::TargetBuilder>
            builder;  ///< with the rules for them, as in the pool
    };

    /// How a choice of `__meta_*` labels is used.
    struct Choice {
        Listing::TimePoint first, last;  ///< when somebody asked for it
        UnusedNames unused{};
    };

    // By the pool.
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
    void update_complete();
    void finish_changes(bool full);
    std::string why_gone(const k8s_sd::ScrapeTarget&);

    const ListLimits limits_;
    ListMetrics& metrics_;
    std::shared_ptr<k8s_sd::TargetBuilder> builder_;    ///< of what comes
    std::map<k8s_sd::ProviderId, Provider> providers_;  ///< that have told their targets
    std::map<ListContent, Listing> listings_;           ///< that are in use
    std::map<ListContent, Choice> choices_;             ///< of these, with `meta`
    UniqueTargets unique_;  ///< of the list of collectors, if it is made
    std::optional<TargetTable> table_;
    Listing::TimePoint table_asked_{};
    std::optional<std::vector<k8s_sd::ProviderId>> expected_;
    bool complete_ = false;
    ChangeRecorder recorder_;
    k8s_sd::TargetPool pool_;
};

}  // namespace bridge
