#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/kind_watches.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

KindView::KindView(std::shared_ptr<KindWatches> watches, WantedObjects wanted, Observer& observer)
    : watches_(std::move(watches)),
      wanted_(std::move(wanted)),
      mask_(mask_of(watches_->kind_, wanted_.fields)),
      selection_(watches_->selection_of(wanted_)),
      observer_(observer) {
    watches_->add(*this);
}

KindView::~KindView() { watches_->remove(*this); }

const Object* KindView::find(std::string_view ns, std::string_view name) const {
    auto it = now_.find(resource_of(watches_->kind_).namespaced ? ns : std::string_view());
    if (it == now_.end()) it = now_.find(std::string_view());
    if (it == now_.end()) return nullptr;
    const Object* object = it->second->watcher().find(ns, name);
    return object && sees(*object) ? object : nullptr;
}

bool KindView::knows_present_server() const {
    return synced() && std::all_of(now_.begin(), now_.end(), [](const auto& now) {
               return now.second->watcher().knows_present_server();
           });
}

void KindView::for_each(const std::function<void(const ObjectPtr&)>& visit) const {
    for (const auto& [ns, watch] : now_) {
        watch->watcher().for_each([&](const ObjectPtr& object) {
            if (sees(*object)) visit(object);
        });
    }
}

void KindView::add_status(std::vector<WatchStatus>& status) const {
    const std::lock_guard lock(watches_->common_->mutex);
    for (const auto& [ns, watch] : now_) status.push_back(watch->published());
    for (const auto& [ns, watch] : next_) {
        const auto it = now_.find(ns);
        if (!watch->published().error || (it != now_.end() && it->second == watch)) continue;
        status.push_back(watch->published());
        status.back().synced = true;  // the watches it replaces are
    }
}

void KindView::end_pauses() {
    const Watches paused = now_;  // their observers may change it
    for (const auto& [ns, watch] : paused) watch->end_pause();
}

bool KindView::wants_namespace(std::string_view ns) const {
    return wanted_.namespaces.empty() || !resource_of(watches_->kind_).namespaced ||
           std::binary_search(wanted_.namespaces.begin(), wanted_.namespaces.end(), ns,
                              std::less<>());
}

bool KindView::sees(const Object& object) const noexcept {
    const bool selected = !selection_ || watches_->matching_views_.has(object, selection_->number);
    const bool has_form = is_for_labels() || object.has_api_object();
    return selected && has_form && wants_namespace(object.ns());
}

bool KindView::distinguishes(const Object& before, const Object& after) const {
    if (!before.same_uid(after)) return true;
    // The store has compared objects for labels already, except those stored apart.
    if (!after.has_api_object()) {
        return ObjectTag::of(after) != ObjectTag::apart || before.has_api_object() ||
               !before.same_content(after);
    }
    if (is_for_labels()) return !before.same_labels(after);
    return !same_fields(before, after, wanted_.fields, mask_);
}

bool KindView::needs(const WatchQuery& query) const {
    if (query.label_selector != wanted_.label_selector ||
        query.field_selector != wanted_.field_selector) {
        return false;
    }
    return !query.ns.empty() || wanted_.namespaces.empty() ||
           !resource_of(watches_->kind_).namespaced;
}

void KindView::on_change(const ObjectChange& change) {
    const bool before = change.before && sees(*change.before);
    const bool after = change.after && sees(*change.after);
    if (!before && !after) return;
    // Other views may have requested more fields.
    if (before && after && !distinguishes(*change.before, *change.after)) return;
    reported_ = true;
    if (before == !!change.before && after == !!change.after) return observer_.on_change(change);
    observer_.on_change({before ? change.before : nullptr, after ? change.after : nullptr});
}

void KindView::on_batch_end() {
    if (!std::exchange(reported_, false)) return;
    try {
        observer_.on_batch_end();
    } catch (...) {
        reported_ = true;  // the next batch tries again
        throw;
    }
}

}  // namespace k8s_sd::inline v0::detail
