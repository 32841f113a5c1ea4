#include "k8s_sd/detail/groups/role_groups.hpp"
#include "k8s_sd/detail/roles/generate.hpp"
#include "k8s_sd/metrics.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

RoleGroups::RoleGroups(Role role, const WatchSet& watches, ObjectMaker& maker,
                       const Environment& env)
    : role_(role), watches_(watches), maker_(maker), environment_(env) {
    watches_.for_each(main_kind(role_), [this](const ObjectPtr& object) {
        track({nullptr, object});
    });
}

// --- from objects to marked groups ---------------------------------------------------------------

void RoleGroups::on_change(const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    if (object.kind() == main_kind(role_)) {
        track(change);
        warn_of_over_capacity(change);
    }
    for (Entry* entry : graph_.dependents(object.kind(), object.ns(), object.name())) mark(*entry);
}

void RoleGroups::track(const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    auto it = entries_.find(ObjectKey{object.ns(), object.name()});
    if (it == entries_.end()) {
        if (!change.after) return;
        auto entry = std::make_unique<Entry>();
        entry->object = change.after;
        it = entries_.insert(std::move(entry)).first;
    } else {
        Entry& entry = **it;
        entry.gone = !change.after;
        if (change.after) {
            entry.replaced |= !entry.object->same_uid(*change.after);
            entry.object = change.after;
        }
    }
    mark(**it);
}

void RoleGroups::mark(Entry& entry) {
    if (!std::exchange(entry.dirty, true)) dirty_.push_back(&entry);
}

// --- generating ----------------------------------------------------------------------------------

std::vector<GroupChange> RoleGroups::update(std::size_t limit) {
    const std::size_t turn = std::min(dirty_.size(), limit);
    const std::vector<Entry*> now(dirty_.end() - static_cast<std::ptrdiff_t>(turn), dirty_.end());
    dirty_.resize(dirty_.size() - turn);
    // Its memory too: after a burst there may be nothing for long.
    if (dirty_.empty() && dirty_.capacity() > limit) dirty_ = {};
    std::vector<GroupChange> changes;
    for (Entry* entry : now) regenerate(*entry, changes);
    return changes;
}

void RoleGroups::regenerate(Entry& entry, std::vector<GroupChange>& changes) {
    entry.dirty = false;
    // Nothing of a deleted object lives on, even if one of its name comes before a host is told.
    GroupChange change{nullptr, entry.group, std::exchange(entry.replaced, false) || entry.gone};
    if (!entry.gone) change.group = generate(entry);
    const bool equal =
        change.group && change.previous && !change.replaced && *change.group == *change.previous;
    if (!equal) {
        entry.group = change.group;
        if (change.group || change.previous) changes.push_back(std::move(change));
    }
    if (!entry.gone) return;
    if (entry.asked_for) graph_.set_dependencies(entry, {});
    entries_.erase(entries_.find(ObjectKey{entry.ns(), entry.name()}));
}

TargetGroupPtr RoleGroups::generate(Entry& entry) {
    asked_.clear();
    GeneratorContext context{maker_.options, maker_.factory, *this, builder_};
    TargetGroupPtr group = detail::generate(role_, *entry.object, context);
    environment_.metrics->groups_generated.fetch_add(1, std::memory_order_relaxed);
    if (!entry.asked_for && !asked_.empty()) {
        entry.asked_for = std::make_unique<Graph::Dependencies>();
    }
    if (entry.asked_for) graph_.set_dependencies(entry, asked_);
    if (!builder_.overfull()) return group;
    warn_of_too_many_targets(entry);
    return entry.group;
}

const Object* RoleGroups::find(Kind kind, std::string_view ns, std::string_view name) {
    graph_.record(kind, ns, name, asked_);
    return watches_.find(kind, ns, name);
}

// --- warnings ------------------------------------------------------------------------------------

void RoleGroups::warn_of_too_many_targets(const Entry& entry) const {
    const Logger& logger = environment_.logger;
    if (!logger.enabled(LogLevel::warning)) return;
    logger.log(LogLevel::warning,
               std::string(to_string(main_kind(role_))) + " " + std::string(entry.ns()) + "/" +
                   std::string(entry.name()) + " has more than " +
                   std::to_string(maker_.options.max_targets) +
                   " targets (max_targets_per_object); it keeps those that it had");
}

void RoleGroups::warn_of_over_capacity(const ObjectChange& change) const {
    if (!change.after || change.after->kind() != Kind::endpoints) return;
    const auto over_capacity = [](const ObjectPtr& object) {
        return object && static_cast<const EndpointsObject&>(*object).over_capacity;
    };
    if (!over_capacity(change.after) || over_capacity(change.before)) return;
    const Logger& logger = environment_.logger;
    if (!logger.enabled(LogLevel::warning)) return;
    logger.log(LogLevel::warning, "endpoints " + std::string(change.after->ns()) + "/" +
                                      std::string(change.after->name()) +
                                      " has more addresses than it can hold, some are missing; "
                                      "use the role endpointslice");
}

}  // namespace k8s_sd::inline v0::detail
