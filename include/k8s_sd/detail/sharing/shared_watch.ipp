#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/sharing/kind_watches.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

bool includes_all(const std::vector<std::string>& some, const std::vector<std::string>& others) {
    if (some.empty()) return true;
    return !others.empty() && std::includes(some.begin(), some.end(), others.begin(), others.end());
}

}  // namespace

SharedWatch::SharedWatch(KindWatches& owner, const WatchQuery& query,
                         std::shared_ptr<const ObjectForm> form)
    : owner_(owner),
      query_(query),
      form_(std::move(form)),
      watcher_(Access::make<URLWatcher>(
          owner.common_->client,
          WatchSubject(std::make_shared<const WatchSetup>(
              query, std::make_shared<const WatchOptions>(owner.common_->options), owner.maker_,
              form_)),
          static_cast<WatchObserver&>(*this), static_cast<TaggingObserver*>(this))),
      published_(watcher_.status()) {}

// --- subscriptions -------------------------------------------------------------------------------

void SharedWatch::subscribe(KindView& view) {
    subscribers_.add(view, view.selection_number());
    add_matcher(view);
}

void SharedWatch::set_active(KindView& view) {
    subscribers_.set_active(view, view.selection_number());
}

void SharedWatch::unsubscribe(KindView& view) {
    subscribers_.remove(view, view.selection_number());
}

// --- stored objects ------------------------------------------------------------------------------

SharedWatch::Matcher SharedWatch::matcher_of(const KindView& view) const {
    const bool limited = query_.ns.empty() && resource_of(query_.kind).namespaced;
    return {view.selection_, limited ? view.wanted_.namespaces : std::vector<std::string>()};
}

void SharedWatch::add_matcher(const KindView& view) {
    Matcher matcher = matcher_of(view);
    if (matcher.selection)
        selections_.add(matcher.selection, matcher.selection->has_selectors_of(query_));
    if (std::find(matchers_.begin(), matchers_.end(), matcher) == matchers_.end())
        matchers_.push_back(std::move(matcher));
}

bool SharedWatch::has_form_for(const KindView& view) const {
    if (view.is_for_labels()) return !form_ || form_->with_labels;
    return form_ && form_->fields.includes(view.wanted_.fields);
}

bool SharedWatch::serves(const KindView& view) const {
    if (!has_form_for(view)) return false;
    const Matcher wanted = matcher_of(view);
    const bool selects = !wanted.selection || selections_.contains(wanted.selection);
    return selects && std::any_of(matchers_.begin(), matchers_.end(), [&](const Matcher& matcher) {
               return (!matcher.selection || matcher.selection == wanted.selection) &&
                      includes_all(matcher.namespaces, wanted.namespaces);
           });
}

void SharedWatch::for_each_object(const std::function<void(const ObjectPtr&)>& visit) const {
    watcher_.for_each(visit);
    watcher_.for_each_pending(visit);
}

void SharedWatch::forget_unwanted() {
    const std::vector<Matcher> before = std::exchange(matchers_, {});
    selections_.clear();
    subscribers_.for_each([this](const KindView& view) { add_matcher(view); });
    if (matchers_.size() == before.size()) return;  // this only removes matchers
    std::vector<ObjectPtr> unwanted;
    watcher_.for_each([&](const ObjectPtr& object) {
        const bool wanted =
            std::any_of(matchers_.begin(), matchers_.end(), [&](const Matcher& matcher) {
                return (!matcher.selection ||
                        owner_.matching_views_.has(*object, matcher.selection->number)) &&
                       includes_all(matcher.namespaces, {std::string(object->ns())});
            });
        if (!wanted) unwanted.push_back(object);
    });
    for (const ObjectPtr& object : unwanted) watcher_.forget(object->ns(), object->name());
    publish();
}

bool SharedWatch::wants(std::string_view ns, std::string_view) {
    return std::any_of(matchers_.begin(), matchers_.end(), [&](const Matcher& matcher) {
        return matcher.namespaces.empty() ||
               std::binary_search(matcher.namespaces.begin(), matcher.namespaces.end(), ns,
                                  std::less<>());
    });
}

bool SharedWatch::is_wanted(std::string_view ns, const ViewSet& views) const {
    return std::any_of(matchers_.begin(), matchers_.end(), [&](const Matcher& matcher) {
        if (matcher.selection && !views.has(matcher.selection->number)) return false;
        return matcher.namespaces.empty() ||
               std::binary_search(matcher.namespaces.begin(), matcher.namespaces.end(), ns,
                                  std::less<>());
    });
}

std::optional<std::uint16_t> SharedWatch::tag_of(const DecodedObject& object) {
    current_views_.clear();
    selections_.evaluate(object, current_views_);
    if (!is_wanted(object.meta.namespace_, current_views_)) return std::nullopt;
    const std::uint16_t id = owner_.matching_views_.id_of(current_views_);
    if (id == ObjectTag::apart && owner_.matching_views_.crowded()) owner_.on_too_many_view_sets();
    return id;
}

void SharedWatch::keep_apart(const ObjectPtr& object) {
    owner_.matching_views_.keep_apart(object, current_views_);
}

void SharedWatch::adopt_from(const KindView& view) {
    // Objects without labels are useless for views of labels.
    const bool needs_labels = !form_ || form_->with_labels;
    view.for_each([&](const ObjectPtr& object) {
        if (needs_labels && !object->has_labels()) return;
        if (query_.ns.empty() || object->ns() == query_.ns) watcher_.adopt(object);
    });
}

void SharedWatch::start() {
    watcher_.start();
    publish();
}

void SharedWatch::end_pause() { Access::impl(watcher_).end_pause(); }

// --- events --------------------------------------------------------------------------------------

void SharedWatch::on_change(const ObjectChange& change) {
    ViewSet views;
    if (change.before) owner_.matching_views_.add_to(views, *change.before);
    if (change.after) owner_.matching_views_.add_to(views, *change.after);
    subscribers_.for_each_active_of(views, [&](KindView& view) { view.on_change(change); });
}

void SharedWatch::on_synced() {
    if (std::exchange(known_, true)) return;
    subscribers_.for_each_active([](KindView& view) {
        --view.unsynced_;
        view.reported_ = true;
    });
}

void SharedWatch::on_batch_end() {
    const auto self = shared_from_this();  // views may unsubscribe
    const auto owner = owner_.shared_from_this();
    publish();
    const TimePoint when = published_.last_byte.value_or(TimePoint());
    FirstException problem;
    subscribers_.for_each_active(
        [&](KindView& view) { problem.catch_from([&] { view.observer_.on_contact(when); }); });
    subscribers_.for_each_active(
        [&](KindView& view) { problem.catch_from([&] { view.on_batch_end(); }); });
    problem.catch_from([&] { owner_.switch_views(); });
    problem.rethrow();
}

bool SharedWatch::exceeds_a_need() const {
    return subscribers_.any_of([this](const KindView& view) { return !view.needs(query_); });
}

bool SharedWatch::makes_up_for(error_code failure) {
    const auto self = shared_from_this();
    return exceeds_a_need() && is_refused(failure) && owner_.refuse(*this, failure);
}

// A watch allowed before is given up after three refusals in a row, because authorizers fail, too.
// Smaller watches may stay below the object limit.
bool SharedWatch::is_refused(error_code failure) {
    if (failure == errc::too_many_objects) return true;
    if (!watcher_.synced()) {
        return failure == errc::forbidden || failure == errc::not_found ||
               failure == errc::bad_request || failure == errc::unexpected_status;
    }
    const bool again = failure == errc::forbidden && watcher_.status().error == failure;
    refusals_ = again ? refusals_ + 1 : 0;
    return refusals_ == 2;
}

void SharedWatch::on_status() {
    const auto self = shared_from_this();  // views may unsubscribe
    const auto owner = owner_.shared_from_this();
    publish();
    // Views waiting for this watch report its errors, too.
    FirstException problem;
    subscribers_.for_each(
        [&](KindView& view) { problem.catch_from([&] { view.observer_.on_status(); }); });
    problem.catch_from([&] { owner_.switch_views(); });
    problem.rethrow();
}

void SharedWatch::publish() {
    WatchStatus status = watcher_.status();
    status.synced = status.synced || known_;
    {
        const std::lock_guard lock(owner_.common_->mutex);
        std::swap(published_, status);
    }
    if (!query_.share.is_all() && published_.server_sharded == false) owner_.on_more_than_share();
}

}  // namespace k8s_sd::inline v0::detail
