#include "jobs/job_targets.hpp"

#include "k8s_sd/scrape/target_filter.hpp"
#include "table/rule_text.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

/// Keeps almost no dropped targets: they are not used here, and can be many.
std::shared_ptr<const k8s_sd::ScrapeConfig> with_limits(k8s_sd::ScrapeConfig config) {
    config.keep_dropped_targets = 1;
    return std::make_shared<const k8s_sd::ScrapeConfig>(std::move(config));
}

std::string_view address_of(const k8s_sd::TargetGroup& group, std::size_t index) {
    constexpr std::string_view name = "__address__";
    const auto own = group[index].get(name);
    return own ? *own : group.labels().get(name).value_or(std::string_view());
}

/// The index of a target in the new version of its group: usually it is unchanged.
std::optional<std::size_t> place_of(const k8s_sd::ScrapeTarget& target,
                                    const k8s_sd::TargetGroup& now) {
    constexpr std::size_t sample_size = 100;
    const std::string_view address = address_of(target.group(), target.index());
    if (target.index() < now.size() && address_of(now, target.index()) == address) {
        return target.index();
    }
    for (std::size_t i = 0; i < std::min(now.size(), sample_size); ++i) {
        if (address_of(now, i) == address) return i;
    }
    return std::nullopt;
}

/// Groups of two providers can have the same source.
std::string key_of(k8s_sd::ProviderId provider, std::string_view source) {
    return std::to_string(provider) + ' ' + std::string(source);
}

}  // namespace

JobTargets::JobTargets(k8s_sd::ScrapeConfig config, const ListLimits& limits, ListMetrics& metrics,
                       ChangeHistory* history)
    : JobTargets(with_limits(std::move(config)), limits, metrics, history) {}

JobTargets::JobTargets(const SharedConfig& config, const ListLimits& limits, ListMetrics& metrics,
                       ChangeHistory* history)
    : limits_(limits),
      metrics_(metrics),
      builder_(std::make_shared<k8s_sd::TargetBuilder>(config)),
      unique_(metrics),
      recorder_(config->job_name, history),
      pool_(config, *this) {}

void JobTargets::reload(k8s_sd::ScrapeConfig next, std::span<const k8s_sd::ProviderId> providers) {
    const SharedConfig config = with_limits(std::move(next));
    bool changed = *config != pool_.config();
    if (changed) builder_ = std::make_shared<k8s_sd::TargetBuilder>(config);
    // Other providers keep their old rules until they are removed.
    for (auto& [id, provider] : providers_) {
        if (std::find(providers.begin(), providers.end(), id) == providers.end()) continue;
        changed = std::exchange(provider.builder, builder_) != builder_ || changed;
    }
    if (changed) {
        drop_table();  // refers to the builder
        // The configuration affects the list entries of unchanged targets, too.
        listings_.clear();
    }
    pool_.reload(config, {}, providers);
    finish_changes(false);
}

void JobTargets::expect(ExpectedProviders expected) {
    const auto is_known = [this](auto id) { return providers_.contains(id); };
    std::erase_if(earlier_, [&](const auto& cluster) {
        return std::none_of(cluster.second.begin(), cluster.second.end(), is_known);
    });
    if (expected_) {
        for (ExpectedProviders::Cluster& cluster : expected_->clusters) {
            if (has(cluster)) earlier_[cluster.name] = std::move(cluster.providers);
        }
    }
    expected_ = std::move(expected);
    update_complete();
}

void JobTargets::accept_missing_clusters() {
    accepts_missing_clusters_ = true;
    update_complete();
}

bool JobTargets::may_lack_clusters() const noexcept {
    return !complete_ && !accepts_missing_clusters_ && expected_ && expected_->can_complete() &&
           expected_->clusters.size() > 1;
}

void JobTargets::begin_anew() {
    expected_.reset();
    earlier_.clear();
    accepts_missing_clusters_ = false;
    complete_ = false;
}

bool JobTargets::has(const std::vector<k8s_sd::ProviderId>& providers) const {
    return std::all_of(providers.begin(), providers.end(),
                       [this](auto id) { return providers_.contains(id); });
}

bool JobTargets::has(const ExpectedProviders::Cluster& cluster) const {
    return cluster.usable && has(cluster.providers);
}

std::vector<std::string> JobTargets::missing_clusters() const {
    std::vector<std::string> names;
    if (!expected_ || expected_->clusters.size() < 2) return names;
    for (const ExpectedProviders::Cluster& cluster : expected_->clusters) {
        const auto earlier = earlier_.find(cluster.name);
        const bool has_earlier = earlier != earlier_.end() && has(earlier->second);
        if (!has(cluster) && !has_earlier) names.push_back(cluster.name);
    }
    return names;
}

bool JobTargets::has_enough() const {
    if (!expected_ || !expected_->usable || !has(expected_->needed)) return false;
    const auto& clusters = expected_->clusters;
    const auto is_there = [this](const auto& cluster) { return has(cluster); };
    return std::all_of(clusters.begin(), clusters.end(), is_there) ||
           (accepts_missing_clusters_ && std::any_of(clusters.begin(), clusters.end(), is_there));
}

void JobTargets::update_complete() { complete_ = complete_ || has_enough(); }

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

/// Why a target has stopped, judged by the present state.
std::string JobTargets::why_gone(const k8s_sd::ScrapeTarget& target) {
    for (const auto& [id, provider] : providers_) {
        k8s_sd::TargetGroupPtr group = provider.groups.find(target.source());
        if (!group && provider.all) group = provider.all->find(target.source());
        if (!group) continue;
        const auto index = place_of(target, *group);
        if (!index) return "its object no longer has this target";
        const auto explanation = provider.builder->explain(*group, *index);
        if (!explanation.rules.empty() && explanation.rules.back().dropped) {
            const std::size_t rule = explanation.rules.back().rule;
            return "rule " + std::to_string(rule) + ": " +
                   in_words(provider.builder->config().relabel_configs[rule]);
        }
        if (explanation.labels) return "it has other labels now";
        return explanation.steps.empty() ? std::string() : explanation.steps.back();
    }
    return "its object is gone";
}

void JobTargets::apply(const k8s_sd::ProviderDiff& news) {
    const auto known = providers_.find(news.provider);
    // A diff without its base is useless.
    if (known == providers_.end() && !news.diff.full) return;
    Provider& provider = known == providers_.end() ? providers_[news.provider] : known->second;
    if (!provider.builder) provider.builder = builder_;
    provider.groups.apply(news.diff);
    provider.all = news.all;
    if (table_) update_table(news);
    list_changes(news, *provider.builder);
    if (!news.last) return;
    if (table_) follow_left_out(news.provider, provider);
    providers_.erase(news.provider);
}

void JobTargets::list_changes(const k8s_sd::ProviderDiff& news, k8s_sd::TargetBuilder& builder) {
    for (auto& [content, to] : listings_) {
        for (const k8s_sd::GroupChange& change : news.diff.updated) {
            const std::string key = key_of(news.provider, change.group->source());
            list_group(to, content, key, change.group, builder);
        }
        for (const k8s_sd::TargetGroupPtr& group : news.diff.removed) {
            list_group(to, content, key_of(news.provider, group->source()), nullptr, builder);
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
    // Not once for each part that is read of a large table.
    const bool is_unread = table_ && !table_->complete();
    if (is_unread) return *table_;
    if (!table_) {
        TargetTable::Groups groups;
        for (const auto& [id, provider] : providers_) {
            provider.groups.for_each_group(
                [&, of = id](const auto& group) { groups.emplace_back(of, group); });
        }
        table_.emplace(*builder_, std::move(groups));
    }
    for (auto& [id, provider] : providers_) follow_left_out(id, provider);
    return *table_;
}

/// Their changes make no diff, so they are compared with those of the last time.
void JobTargets::follow_left_out(k8s_sd::ProviderId id, Provider& provider) {
    if (!provider.all && provider.left_out.empty()) return;
    const auto before = std::exchange(provider.left_out, {});
    const auto is_delivered = [&](std::string_view source) {
        return provider.groups.find(source) != nullptr;
    };
    if (provider.all) {
        const k8s_sd::TargetFilter filter = k8s_sd::target_filter(provider.builder->config());
        for (const k8s_sd::TargetGroupPtr& group : provider.all->groups()) {
            const std::string_view source = group->source();
            if (is_delivered(source)) continue;
            const auto known = before.find(source);
            const bool is_known = known != before.end() && known->second == group;
            // Else the next diff has it.
            if (!is_known && filter.passes_any(*group)) continue;
            if (!is_known) table_->put_later(id, group);
            provider.left_out.emplace(source, group);
        }
    }
    for (const auto& [source, group] : before) {
        if (!provider.left_out.contains(source) && !is_delivered(source)) {
            table_->remove(id, source);
        }
    }
}

void JobTargets::drop_table() {
    table_.reset();
    for (auto& [id, provider] : providers_) provider.left_out.clear();
}

ListBodyPtr JobTargets::body(const ListContent& content, const ListSelection& selection,
                             Listing::TimePoint now) {
    return listing(content, now).body(selection, now);
}

std::size_t JobTargets::count(const ListContent& content, const ListSelection& selection,
                              Listing::TimePoint now) {
    return listing(content, now).count(selection, now);
}

std::string JobTargets::warning(const ListContent& content, const ListSelection& selection) const {
    std::string text;
    const auto choice = choices_.find(content);
    if (choice != choices_.end() && !choice->second.unused.empty()) {
        text = "no target of this job has a label " + choice->second.unused.text();
    }
    const auto made = listings_.find(content);
    if (made != listings_.end() && !made->second.has_node(selection)) {
        text += (text.empty() ? "" : "; ") + std::string("no target of this job is on a node ") +
                selection.node;
    }
    return text;
}

Listing& JobTargets::listing(const ListContent& content, Listing::TimePoint now) {
    if (const auto choice = choices_.find(content); choice != choices_.end()) {
        choice->second.last = now;
    }
    const auto known = listings_.find(content);
    if (known != listings_.end()) return known->second;
    admit(content, now);
    Listing& made = listings_.try_emplace(content, limits_, metrics_).first->second;
    try {
        fill(made, content);
    } catch (...) {
        listings_.erase(content);
        throw;
    }
    return made;
}

/// Whether the choice seems unused.
bool JobTargets::makes_room(const Choice& choice, Listing::TimePoint now) const {
    // A retry after an error does not count as a returning reader.
    constexpr std::chrono::seconds apart{5};
    const bool once = choice.last - choice.first < apart;
    return now - choice.last >= (once ? limits_.choice_idle_once : limits_.choice_idle);
}

/// There is one list of each form; readers can request any number of label choices.
/// \throws LimitReached
void JobTargets::admit(const ListContent& content, Listing::TimePoint now) {
    if (content.meta.empty()) return;
    std::erase_if(choices_, [&](const auto& choice) { return !listings_.contains(choice.first); });
    if (choices_.size() >= limits_.contents) {
        const auto idle = std::find_if(choices_.begin(), choices_.end(), [&](const auto& choice) {
            return makes_room(choice.second, now);
        });
        if (idle != choices_.end()) {
            listings_.erase(idle->first);
            choices_.erase(idle);
        }
    }
    if (choices_.size() < limits_.contents) {
        choices_.insert_or_assign(content, Choice{now, now, UnusedNames(content.meta)});
        return;
    }
    throw LimitReached("readers choose " + std::to_string(limits_.contents) +
                       " other sets of labels with meta or keep_meta, which is the limit; they "
                       "should agree on one");
}

void JobTargets::fill(Listing& made, const ListContent& content) {
    if (content.form == ListForm::collector) unique_.clear();
    for (const auto& [id, provider] : providers_) {
        provider.groups.for_each_group(
            [&, of = id, &builder = *provider.builder](const k8s_sd::TargetGroupPtr& group) {
                list_group(made, content, key_of(of, group->source()), group, builder);
            });
    }
}

/// \param group  null: removed
void JobTargets::list_group(Listing& to, const ListContent& content, const std::string& key,
                            const k8s_sd::TargetGroupPtr& group, k8s_sd::TargetBuilder& builder) {
    if (content.form == ListForm::collector) return unique_.replace(to, key, group, builder);
    std::vector<ListedTarget> targets;
    if (group) targets = listed(content, group, builder);
    if (group) see_names(content, *group);
    metrics_.serialised.fetch_add(targets.size(), std::memory_order_relaxed);
    for (const ListedTarget& target : targets) {
        metrics_.left_out_labels.fetch_add(target.left_out, std::memory_order_relaxed);
    }
    to.replace(key, std::move(targets));
}

void JobTargets::see_names(const ListContent& content, const k8s_sd::TargetGroup& group) {
    const auto choice = choices_.find(content);
    if (choice == choices_.end()) return;
    UnusedNames& unused = choice->second.unused;
    const auto see = [&](const k8s_sd::Labels& labels) {
        for (const auto& [name, value] : labels) {
            if (unused.empty()) return;
            if (!value.empty()) unused.saw(name);
        }
    };
    if (!unused.empty()) see(group.labels());
    for (std::size_t i = 0; i < group.size() && !unused.empty(); ++i) see(group[i]);
}

/// The targets of a group, including duplicates of other groups' targets: a list shows one of each
/// set of duplicates, and is the same whichever came first.
std::vector<ListedTarget> JobTargets::listed(const ListContent& content,
                                             const k8s_sd::TargetGroupPtr& group,
                                             k8s_sd::TargetBuilder& builder) const {
    if (content.form == ListForm::discovered) {
        return discovered_targets(group, builder, content.meta);
    }
    return scraped_targets(group, builder, config(), content);
}

void JobTargets::start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    recorder_.started(target);
}

void JobTargets::stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target,
                      k8s_sd::StopReason) noexcept {
    recorder_.stopped(target);
}

std::optional<std::string> JobTargets::known_tag(const ListContent& content,
                                                 const ListSelection& selection) const {
    const auto made = listings_.find(content);
    return made == listings_.end() ? std::nullopt : made->second.known_tag(selection);
}

bool JobTargets::keeps_something() const noexcept { return table_ || !listings_.empty(); }

void JobTargets::forget_unused(Listing::TimePoint now) {
    for (auto made = listings_.begin(); made != listings_.end();) {
        made = made->second.forget_unused(now) ? std::next(made) : listings_.erase(made);
    }
    std::erase_if(choices_, [&](const auto& choice) { return !listings_.contains(choice.first); });
    if (!listings_.contains({ListForm::collector})) unique_.clear();
    if (now - table_asked_ > limits_.forget_after) drop_table();
}

std::string JobTargets::failure() const {
    const std::vector<k8s_sd::FailedTarget> failed = pool_.failed();
    if (failed.empty()) return {};
    const k8s_sd::FailedTarget& target = failed.front();
    std::string name = target.source;
    for (const auto& [id, provider] : providers_) {
        const k8s_sd::TargetGroupPtr group = provider.groups.find(target.source);
        if (group && target.index < group->size()) name = address_of(*group, target.index);
    }
    return name + ": " + target.message;
}

std::vector<k8s_sd::TargetGroupPtr> JobTargets::all_groups() const {
    std::vector<k8s_sd::TargetGroupPtr> groups;
    for (const auto& [id, provider] : providers_) {
        if (provider.all) {
            const auto all = provider.all->groups();
            groups.insert(groups.end(), all.begin(), all.end());
        } else {
            provider.groups.for_each_group([&](const auto& group) { groups.push_back(group); });
        }
    }
    return groups;
}

LiveCounts JobTargets::live_counts() const {
    JobTargetCounts counts{0, pool_.active_count(), 0, pool_.failed_count()};
    LiveCounts::Providers filtered;
    std::size_t delivered = 0;
    for (const auto& [id, provider] : providers_) {
        const std::size_t targets = provider.groups.target_count();
        if (provider.all) {
            filtered.push_back(provider.all);
            delivered += targets;
        }
        counts.discovered += targets;
    }
    // The pool counts the targets left out, too. Their number may change meanwhile.
    const auto left_out = [&] { return LiveCounts({}, filtered, delivered).now().dropped; };
    std::size_t before = left_out();
    std::size_t dropped = pool_.dropped_count();
    for (int attempts = 0; before != left_out() && attempts < 10; ++attempts) {
        before = left_out();
        dropped = pool_.dropped_count();
    }
    counts.dropped = dropped - std::min(dropped, before);
    return {counts, std::move(filtered), delivered};
}

JobTargetCounts LiveCounts::now() const {
    std::size_t all = 0;
    for (const auto& provider : providers_) all += provider->target_count();
    const std::size_t left_out = all - std::min(all, delivered_);
    JobTargetCounts counts = counts_;
    counts.discovered += left_out;
    counts.dropped += left_out;
    return counts;
}

}  // namespace k8s_sd_program
