#include "jobs/job_targets.hpp"

#include "table/rule_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

/// Nobody looks at dropped targets, of which there can be many.
k8s_sd::ScrapeConfig with_limits(k8s_sd::ScrapeConfig config) {
    config.keep_dropped_targets = 1;
    return config;
}

/// Lists of what was discovered. The others are of what the pool makes of it.
constexpr std::array forms_of_groups{ListForm::discovered, ListForm::collector};

bool is_of_groups(ListForm form) {
    return std::find(forms_of_groups.begin(), forms_of_groups.end(), form) != forms_of_groups.end();
}

std::string_view address_of(const k8s_sd::TargetGroup& group, std::size_t index) {
    constexpr std::string_view name = "__address__";
    const auto own = group[index].get(name);
    return own ? *own : group.labels().get(name).value_or(std::string_view());
}

/// Where a target is in the group that has come for its own: most are at the same place.
std::optional<std::size_t> place_of(const k8s_sd::ScrapeTarget& target,
                                    const k8s_sd::TargetGroup& now) {
    constexpr std::size_t looked_at = 100;
    const std::string_view address = address_of(target.group(), target.index());
    if (target.index() < now.size() && address_of(now, target.index()) == address) {
        return target.index();
    }
    for (std::size_t i = 0; i < std::min(now.size(), looked_at); ++i) {
        if (address_of(now, i) == address) return i;
    }
    return std::nullopt;
}

/// Two providers can have groups of the same source.
std::string key_of(k8s_sd::ProviderId provider, std::string_view source) {
    return std::to_string(provider) + ' ' + std::string(source);
}

}  // namespace

JobTargets::JobTargets(k8s_sd::ScrapeConfig config, const ListLimits& limits, ListMetrics& metrics,
                       ChangeHistory* history)
    : limits_(limits),
      metrics_(metrics),
      builder_(with_limits(std::move(config))),
      unique_(metrics),
      recorder_(builder_.config().job_name, history),
      pool_(builder_.config(), *this) {}

void JobTargets::reload(k8s_sd::ScrapeConfig config,
                        std::span<const k8s_sd::ProviderId> providers) {
    config = with_limits(std::move(config));
    if (config != pool_.config()) {
        table_.reset();  // looks at the builder
        builder_ = k8s_sd::TargetBuilder(config);
        // What a list says of a target depends on the configuration even where the target stays.
        for (auto& made : listings_) made.reset();
    }
    pool_.reload(std::move(config), {}, providers);
    finish_changes(false);
}

void JobTargets::expect(std::optional<std::vector<k8s_sd::ProviderId>> providers) {
    expected_ = std::move(providers);
    update_complete();
}

void JobTargets::update_complete() {
    complete_ =
        complete_ || (expected_ && std::all_of(expected_->begin(), expected_->end(),
                                               [&](auto id) { return groups_.contains(id); }));
}

void JobTargets::apply(const k8s_sd::JobDiff& diff) {
    pool_.apply(diff);
    for (const k8s_sd::ProviderDiff& provider : diff.providers) apply(provider);
    finish_changes(std::any_of(diff.providers.begin(), diff.providers.end(),
                               [](const auto& provider) { return provider.diff.full; }));
    update_complete();
}

void JobTargets::finish_changes(bool full) {
    recorder_.finish(full, [this](const k8s_sd::ScrapeTarget& gone) { return why_gone(gone); });
}

/// Why a target that has stopped is none any more, by what there is now.
std::string JobTargets::why_gone(const k8s_sd::ScrapeTarget& target) {
    for (const auto& [provider, groups] : groups_) {
        const k8s_sd::TargetGroupPtr group = groups.find(target.source());
        if (!group) continue;
        const auto index = place_of(target, *group);
        if (!index) return "its object has no such target any more";
        const auto explanation = builder_.explain(*group, *index);
        if (!explanation.rules.empty() && explanation.rules.back().dropped) {
            const std::size_t rule = explanation.rules.back().rule;
            return "rule " + std::to_string(rule) + ": " +
                   in_words(builder_.config().relabel_configs[rule]);
        }
        if (explanation.labels) return "it has other labels now";
        return explanation.steps.empty() ? std::string() : explanation.steps.back();
    }
    return "its object is gone";
}

void JobTargets::apply(const k8s_sd::ProviderDiff& provider) {
    groups_[provider.provider].apply(provider.diff);
    if (provider.last) groups_.erase(provider.provider);
    if (table_) update_table(provider);
    for (const ListForm form : forms_of_groups) {
        auto& to = listing(form);
        if (!to) continue;
        for (const k8s_sd::GroupChange& change : provider.diff.updated) {
            list_group(*to, form, provider.provider, change.group->source(), change.group);
        }
        for (const k8s_sd::TargetGroupPtr& group : provider.diff.removed) {
            list_group(*to, form, provider.provider, group->source(), nullptr);
        }
    }
}

void JobTargets::update_table(const k8s_sd::ProviderDiff& provider) {
    for (const k8s_sd::GroupChange& change : provider.diff.updated) {
        table_->put(provider.provider, change.group);
    }
    for (const k8s_sd::TargetGroupPtr& group : provider.diff.removed) {
        table_->remove(provider.provider, group->source());
    }
}

TargetTable& JobTargets::table(Listing::TimePoint now) {
    table_asked_ = now;
    if (table_) return *table_;
    TargetTable::Groups groups;
    for (const auto& [id, of_provider] : groups_) {
        of_provider.for_each_group(
            [&, provider = id](const auto& group) { groups.emplace_back(provider, group); });
    }
    return table_.emplace(builder_, std::move(groups));
}

ListBodyPtr JobTargets::body(ListForm form, const Selection& selection, Listing::TimePoint now) {
    auto& made = listing(form);
    if (!made) made.emplace(made_listing(form));
    return made->body(selection, now);
}

Listing JobTargets::made_listing(ListForm form) {
    Listing made(limits_, metrics_);
    if (form == ListForm::collector) unique_.clear();
    if (is_of_groups(form)) {
        for (const auto& [provider, groups] : groups_) {
            groups.for_each_group([&, id = provider](const k8s_sd::TargetGroupPtr& group) {
                list_group(made, form, id, group->source(), group);
            });
        }
    } else {
        for (const auto& [id, target] : active_) list_target(made, form, id, *target);
    }
    return made;
}

/// \param group  null: it is gone
void JobTargets::list_group(Listing& to, ListForm form, k8s_sd::ProviderId provider,
                            std::string_view source, const k8s_sd::TargetGroupPtr& group) {
    const std::string key = key_of(provider, source);
    if (form == ListForm::collector) return unique_.replace(to, key, group, builder_);
    if (group) metrics_.serialised.fetch_add(group->size(), std::memory_order_relaxed);
    to.replace(key, group ? discovered_targets(group, builder_) : std::vector<ListedTarget>());
}

void JobTargets::list_target(Listing& to, ListForm form, k8s_sd::TargetId id,
                             const k8s_sd::ScrapeTarget& target) {
    metrics_.serialised.fetch_add(1, std::memory_order_relaxed);
    std::vector<ListedTarget> targets;
    targets.push_back(scraped_target(target, builder_.config(), form));
    to.replace(std::to_string(id), std::move(targets));
}

void JobTargets::list_target(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) {
    active_[id] = target;
    for (const ListForm form : {ListForm::relabelled, ListForm::urls}) {
        if (auto& to = listing(form)) list_target(*to, form, id, *target);
    }
}

void JobTargets::start(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    recorder_.started(target);
    list_target(id, target);
}

/// Its node may be another one now.
void JobTargets::keep(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    list_target(id, target);
}

void JobTargets::stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
                      k8s_sd::StopReason) noexcept {
    recorder_.stopped(target);
    active_.erase(id);
    for (const ListForm form : {ListForm::relabelled, ListForm::urls}) {
        if (auto& from = listing(form)) from->replace(std::to_string(id), {});
    }
}

std::optional<std::string> JobTargets::known_tag(ListForm form, const Selection& selection) const {
    const auto& made = listings_[static_cast<std::size_t>(form)];
    return made ? made->known_tag(selection) : std::nullopt;
}

bool JobTargets::keeps_something() const noexcept {
    return table_ || std::any_of(listings_.begin(), listings_.end(),
                                 [](const auto& made) { return made.has_value(); });
}

void JobTargets::forget_unused(Listing::TimePoint now) {
    for (auto& made : listings_) {
        if (made && !made->forget_unused(now)) made.reset();
    }
    if (!listing(ListForm::collector)) unique_.clear();
    if (now - table_asked_ > limits_.forget_after) table_.reset();
}

TargetCounts JobTargets::counts() const {
    TargetCounts counts{0, pool_.active_count(), pool_.dropped_count(), pool_.failed_count()};
    for (const auto& [provider, groups] : groups_) counts.discovered += groups.target_count();
    return counts;
}

}  // namespace bridge
