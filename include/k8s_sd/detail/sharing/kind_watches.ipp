#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/sharing/kind_watches.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// After this time the watch is tried again, at the cost of one request if it is refused again.
constexpr Duration refusal_duration = std::chrono::hours(1);
/// A list over the limit is more expensive for the server.
constexpr Duration too_many_duration = std::chrono::hours(24);
/// Lower bound, however often a configuration is applied.
constexpr Duration min_refusal_duration = std::chrono::minutes(1);

/// Jitter, so programs refused together do not retry in lockstep.
Duration with_jitter(Duration duration, Random& random) {
    using Distribution = std::uniform_int_distribution<Duration::rep>;
    return duration + Duration(Distribution(0, duration.count() / 10)(random));
}

}  // namespace

KindWatches::KindWatches(Kind kind, std::shared_ptr<const Common> common,
                         std::shared_ptr<ObjectMaker> maker)
    : kind_(kind),
      common_(std::move(common)),
      maker_(std::move(maker)),
      matching_views_([this](const std::function<void(const ObjectPtr&)>& visit) {
          for (const auto& weak : running_) {
              if (const SharedWatchPtr watch = weak.lock()) watch->for_each_object(visit);
          }
      }),
      random_(impl_of(*common_->client).environment.seed + static_cast<std::uint64_t>(kind)) {}

// --- views ---------------------------------------------------------------------------------------

void KindWatches::add(KindView& view) {
    if (views_.empty()) impl_of(*common_->client).add_user(*this);
    views_.push_back(&view);
    plan_soon();
}

void KindWatches::remove(KindView& view) {
    drop_next(view);
    Watches left;
    {
        const std::lock_guard lock(common_->mutex);
        left.swap(view.now_);
    }
    for (const auto& [ns, watch] : left) watch->unsubscribe(view);
    std::erase(views_, &view);
    left.clear();
    if (views_.empty()) {
        matching_views_.clear();
        too_many_view_sets_ = shares_in_one_ = false;
        impl_of(*common_->client).remove_user(*this);
        set_timer();
    } else {
        plan_soon();
    }
}

/// All selections in use have different numbers.
SharedSelectionPtr KindWatches::selection_of(const WantedObjects& wanted) {
    if (wanted.label_selector.empty() && wanted.field_selector.empty() && wanted.share.is_all())
        return nullptr;
    std::erase_if(selections_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = selections_[{wanted.label_selector, wanted.field_selector, wanted.share}];
    if (SharedSelectionPtr selection = known.lock()) return selection;
    std::vector<bool> taken(selections_.size() + 1);
    for (const auto& [selected, weak] : selections_) {
        const SharedSelectionPtr selection = weak.lock();
        if (selection && selection->number < taken.size()) taken[selection->number] = true;
    }
    const auto free = std::find(taken.begin(), taken.end(), false) - taken.begin();
    const SharedSelectionPtr selection = std::make_shared<const SharedSelection>(SharedSelection{
        Selection(kind_, wanted.label_selector, wanted.field_selector), wanted.label_selector,
        wanted.field_selector, wanted.share, static_cast<std::size_t>(free)});
    known = selection;
    return selection;
}

// --- the plan ------------------------------------------------------------------------------------

// Posted, so views created or destroyed together lead to one plan.
void KindWatches::plan_soon() {
    next_plan_.request(common_->client->get_executor(), weak_from_this(),
                       [](KindWatches& self) { self.plan(nullptr); });
}

/// A narrow selection is cheap for the server, so the server evaluates it.
bool KindWatches::is_selected_here(const Selection& selection) const {
    const bool wide = common_->options.share_selectors == SelectorSharing::always;
    return selection.known_here() && (wide || !selection.narrow());
}

/// A share, when the server supports it, is equally cheap to request.
bool KindWatches::is_selected_here(const WantedObjects& wanted) const {
    return wanted.share.is_all() || common_->options.share_selectors == SelectorSharing::always;
}

/// Whether one watch would replace several with the same full response.
bool KindWatches::has_several_shares() const {
    return std::any_of(views_.begin(), views_.end(), [this](const KindView* view) {
        return view->wanted_.share != views_.front()->wanted_.share;
    });
}

bool KindWatches::server_shards() const {
    const ApiClientImpl& api = impl_of(*common_->client);
    return common_->options.server_side_shares &&
           !api.traffic->shards.of_no_use(api.environment.clock->now());
}

/// A watch for a share receives, or has to request, more than its share.
void KindWatches::on_more_than_share() {
    if (has_several_shares() && !server_shards()) plan_soon();
}

/// \param failing  a watch to replace, or null
void KindWatches::plan(const SharedWatch* failing) {
    const WatchOptions& options = common_->options;
    too_many_view_sets_ = too_many_view_sets_ && !may_select_here();
    refused_.expire(now());
    set_timer();
    shares_in_one_ =
        (shares_in_one_ || has_several_shares()) && !server_shards() && !too_many_view_sets_;
    std::vector<WantedObjects> wanted;
    for (const KindView* view : views_) {
        wanted.push_back(view->wanted_);
        if (shares_in_one_) wanted.back().share = {};
        const bool here = !view->selection_ || is_selected_here(view->selection_->selectors);
        wanted.back().selects_here =
            here && is_selected_here(wanted.back()) && !too_many_view_sets_;
    }
    const auto queries =
        plan_watches(kind_, wanted, options.share_selectors, options.cluster_wide_from, refused_);
    std::map<WatchQuery, std::vector<KindView*>> users;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        for (const WatchQuery& query : queries[i]) users[query].push_back(views_[i]);
    }
    std::map<WatchQuery, SharedWatchPtr> watches;
    std::vector<SharedWatchPtr> fresh;
    for (const auto& [query, views] : users) {
        SharedWatchPtr& watch = watches[query];
        watch = find_watch(query, views);
        if (watch) continue;
        watch = make_watch(query, views, failing);
        fresh.push_back(watch);
    }
    const std::vector<KindView*> views = views_;
    FirstException problem;  // of an observer
    for (std::size_t i = 0; i < views.size(); ++i) {
        problem.catch_from([&] {
            Watches next;
            for (const WatchQuery& query : queries[i]) next.emplace(query.ns, watches[query]);
            assign(*views[i], std::move(next));
        });
    }
    for (const SharedWatchPtr& watch : fresh) problem.catch_from([&] { watch->start(); });
    watches.clear();
    std::erase_if(running_, [](const auto& watch) { return watch.expired(); });
    for (const auto& weak : running_) {
        const SharedWatchPtr watch = weak.lock();
        if (watch.get() != failing) problem.catch_from([&] { watch->forget_unwanted(); });
    }
    problem.rethrow();
}

/// The newest watch able to serve all views.
KindWatches::SharedWatchPtr KindWatches::find_watch(const WatchQuery& query,
                                                    const std::vector<KindView*>& views) const {
    for (auto it = running_.rbegin(); it != running_.rend(); ++it) {
        SharedWatchPtr watch = it->lock();
        if (!watch || watch->query() != query) continue;
        const auto serves = [&](const KindView* view) { return watch->serves(*view); };
        if (std::all_of(views.begin(), views.end(), serves)) return watch;
    }
    return nullptr;
}

/// \returns null for labels alone
std::shared_ptr<const ObjectForm> KindWatches::form_for(const std::vector<KindView*>& views) const {
    Fields fields;
    bool labels = false;
    for (const KindView* view : views) {
        fields.add(view->wanted_.fields);
        labels = labels || view->is_for_labels();
    }
    if (fields.empty()) return nullptr;
    return std::make_shared<const ObjectForm>(kind_, fields, labels,
                                              *maker_->options.version_rules);
}

/// Starts the watch with the known objects: equal objects cause no change, and a failure of the
/// watch loses nothing.
KindWatches::SharedWatchPtr KindWatches::make_watch(const WatchQuery& query,
                                                    const std::vector<KindView*>& views,
                                                    const SharedWatch* failing) {
    auto watch = std::make_shared<SharedWatch>(*this, query, form_for(views));
    bool known = failing != nullptr;
    for (KindView* view : views) {
        watch->subscribe(*view);
        if (view->synced()) watch->adopt_from(*view);
        const auto fails = [&](const auto& now) { return now.second.get() == failing; };
        known = known && view->synced() && std::any_of(view->now_.begin(), view->now_.end(), fails);
    }
    if (known) watch->set_known();
    running_.push_back(watch);
    return watch;
}

void KindWatches::assign(KindView& view, Watches next) {
    if (next == view.next_) return;
    drop_next(view);
    if (next == view.now_) {
        for (const auto& [ns, watch] : next) watch->set_active(view);
        return;
    }
    for (const auto& [ns, watch] : next) watch->subscribe(view);
    {
        const std::lock_guard lock(common_->mutex);
        view.next_ = std::move(next);
    }
    ++waiting_;
    if (is_ready(view)) switch_to_next(view);
}

void KindWatches::drop_next(KindView& view) {
    if (view.next_.empty()) return;
    --waiting_;
    Watches dropped;
    {
        const std::lock_guard lock(common_->mutex);
        dropped.swap(view.next_);
    }
    for (const auto& [ns, watch] : dropped) {
        const auto it = view.now_.find(ns);
        if (it == view.now_.end() || it->second != watch) watch->unsubscribe(view);
    }
}

// --- from one watch to another -------------------------------------------------------------------

void KindWatches::switch_views() {
    if (waiting_ == 0) return;
    FirstException problem;
    bool any = false;
    for (KindView* view : std::vector<KindView*>(views_)) {
        if (view->next_.empty() || !is_ready(*view)) continue;
        problem.catch_from([&] { switch_to_next(*view); });
        any = true;
    }
    if (any) problem.catch_from([&] { plan_soon(); });  // drops unused watches
    problem.rethrow();
}

/// A view without a complete state can switch at once. A watch knows its list's version a little
/// later than its objects.
bool KindWatches::is_ready(const KindView& view) const {
    if (!view.synced()) return true;
    return std::all_of(view.next_.begin(), view.next_.end(), [&](const auto& next) {
        if (!next.second->watcher().synced()) return next.second->known();
        const std::string& version = next.second->published().resource_version;
        return !version.empty() &&
               std::none_of(view.now_.begin(), view.now_.end(), [&](const auto& now) {
                   return is_older_version(version, now.second->published().resource_version);
               });
    });
}

void KindWatches::switch_to_next(KindView& view) {
    std::vector<ObjectChange> changes;
    std::map<std::pair<std::string_view, std::string_view>, ObjectPtr> before;
    view.for_each([&](const ObjectPtr& object) {
        before.emplace(std::pair(object->ns(), object->name()), object);
    });
    --waiting_;
    Watches left;
    {
        const std::lock_guard lock(common_->mutex);
        left.swap(view.next_);
        left.swap(view.now_);
    }
    view.unsynced_ = 0;
    for (const auto& [ns, watch] : view.now_) {
        watch->set_active(view);
        if (!watch->known()) ++view.unsynced_;
    }
    for (const auto& [ns, watch] : left) {
        const auto it = view.now_.find(ns);
        if (it == view.now_.end() || it->second != watch) watch->unsubscribe(view);
    }
    view.for_each([&](const ObjectPtr& object) {
        const auto it = before.find({object->ns(), object->name()});
        if (it == before.end()) {
            changes.push_back({nullptr, object});
        } else {
            if (it->second != object && view.distinguishes(*it->second, *object))
                changes.push_back({it->second, object});
            before.erase(it);
        }
    });
    for (const auto& [key, object] : before) changes.push_back({object, nullptr});
    view.reported_ = true;
    FirstException problem;
    for (const ObjectChange& change : changes)
        problem.catch_from([&] { view.observer_.on_change(change); });
    problem.catch_from([&] { view.on_batch_end(); });
    problem.catch_from([&] { view.observer_.on_status(); });  // now of other watches
    problem.rethrow();
}

// --- refusals ------------------------------------------------------------------------------------

/// \returns whether all views have left the watch
bool KindWatches::refuse(SharedWatch& watch, error_code why) {
    log_refusal(watch, why);
    const bool too_many = why == errc::too_many_objects;
    refused_.add(watch.query(), now(),
                 with_jitter(too_many ? too_many_duration : refusal_duration, random_));
    plan(&watch);
    return !watch.has_subscribers();
}

void KindWatches::set_timer() {
    const auto next = refused_.next_expiry();
    if (!next || views_.empty()) {
        if (timer_) timer_->cancel();
        return;
    }
    const ApiClientImpl& api = impl_of(*common_->client);
    if (!timer_) timer_ = api.environment.clock->make_timer(api.executor);
    timer_->expires_at(*next,
                       if_alive(weak_from_this(), [](KindWatches& self) { self.plan(nullptr); }));
}

void KindWatches::recheck() {
    if (refused_.empty()) return;
    refused_.shorten(min_refusal_duration);
    plan_soon();
}

/// A refusal by one server does not apply to another one.
void KindWatches::on_server_change() {
    if (refused_.empty()) return;
    refused_.clear();
    plan_soon();
}

void KindWatches::log_refusal(const SharedWatch& watch, error_code why) const {
    const Logger& logger = impl_of(*common_->client).environment.logger;
    if (!logger.enabled(LogLevel::info)) return;
    const std::string where =
        watch.query().ns.empty() ? "all namespaces" : "the namespace " + watch.query().ns;
    const std::string text = std::string(to_string(kind_)) +
                             " are watched one selector or namespace at a time, because the "
                             "server refuses to list and watch those of " +
                             where + " together: " + why.message();
    logger.log({LogLevel::info, LogEvent::watches_divided, text, kind_, watch.query().ns, why});
}

/// The selections overlap in too many combinations: let the server evaluate them again. Until then,
/// objects are stored apart.
void KindWatches::on_too_many_view_sets() {
    if (std::exchange(too_many_view_sets_, true)) return;
    plan_soon();
}

/// Few selections cannot have too many combinations.
bool KindWatches::may_select_here() const {
    constexpr std::ptrdiff_t few = 15;
    return std::count_if(selections_.begin(), selections_.end(),
                         [](const auto& entry) { return !entry.second.expired(); }) <= few;
}

}  // namespace k8s_sd::inline v0::detail
