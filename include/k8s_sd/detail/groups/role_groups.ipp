#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/groups/role_groups.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/metrics.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

// For the limit of a handler: with half a million pods, 2 048 targets of slices take up to 10 ms.
constexpr std::size_t targets_per_group = 2;

}  // namespace

RoleGroups::RoleGroups(Role role, const WatchSet& watches, ObjectMaker& maker, SharedGroups& shared,
                       const Environment& env, OverfullObjects& overfull)
    : role_(role),
      watches_(watches),
      maker_(maker),
      shared_(shared),
      environment_(env),
      may_ask_(needed_kinds(role, maker.options.attach).size() > 1),
      overfull_(overfull) {
    shared_.add_view();
    watches_.for_each(main_kind(role_), [this](const ObjectPtr& object) {
        track({nullptr, object});
    });
}

RoleGroups::~RoleGroups() {
    entries_.for_each([this](GroupEntry& entry) { stop_sharing(entry); });
    shared_.remove_view();
}

// --- from objects to marked groups ---------------------------------------------------------------

void RoleGroups::on_change(const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    if (object.kind() == main_kind(role_)) {
        track(change);
        warn_of_over_capacity(change);
    }
    const auto& dependents = graph_.note_change(object.kind(), object.ns(), object.name());
    for (GroupEntry* entry : dependents) mark(*entry);
}

void RoleGroups::track(const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    GroupEntry* entry = entries_.find(object);
    if (!entry) {
        if (!change.after) return;
        entry = &entries_.emplace(change.after);
    } else {
        stop_sharing(*entry);
        entry->gone = !change.after;
        if (change.after) {
            entry->replaced = entry->replaced || !entry->object->same_uid(*change.after);
            entry->object = change.after;
            entry->current = false;
        }
    }
    mark(*entry);
}

void RoleGroups::mark(GroupEntry& entry) {
    if (!entry.dirty) dirty_.push_back(&entry);
    entry.dirty = true;
}

// --- generating ----------------------------------------------------------------------------------

std::vector<GroupChange> RoleGroups::update(std::size_t limit) {
    const auto size_of = [](const TargetGroupPtr& group) { return group ? group->size() : 0; };
    const std::size_t begin = dirty_.size() - std::min(dirty_.size(), limit);
    std::size_t failed = begin;  // end of the groups that stay marked
    std::size_t end = begin;
    std::vector<GroupChange> changes;
    changes.reserve(dirty_.size() - begin);  // so that no change is lost
    FirstException problem;
    // Slices have a hundred targets each, and the handler should end as soon as with pods.
    for (std::size_t targets = 0; end < dirty_.size() && targets < targets_per_group * limit;) {
        GroupEntry* const entry = dirty_[end++];
        targets += size_of(entry->group);
        const std::size_t known = changes.size();
        if (!problem.catch_from([&] { regenerate(*entry, changes); })) dirty_[failed++] = entry;
        if (changes.size() > known) targets += size_of(changes.back().group);
    }
    dirty_.erase(dirty_.begin() + static_cast<std::ptrdiff_t>(failed),
                 dirty_.begin() + static_cast<std::ptrdiff_t>(end));
    if (changes.empty()) problem.rethrow();
    // Frees the memory of a burst, because the next one may be far away.
    if (dirty_.empty() && dirty_.capacity() > limit) dirty_ = std::vector<GroupEntry*>();
    return changes;
}

/// An exception leaves the entry marked, and its change is made again.
void RoleGroups::regenerate(GroupEntry& entry, std::vector<GroupChange>& changes) {
    // A new object of the same name shares nothing with a deleted one, even before the host is
    // notified of the deletion.
    GroupChange change{nullptr, entry.group, entry.replaced || entry.gone};
    if (!entry.gone) change.group = generate(entry, change.replaced);
    entry.replaced = false;
    const bool equal =
        change.group && change.previous && !change.replaced && *change.group == *change.previous;
    if (equal) {
        // The host keeps its equal group. If that group lacks the parts of the current object, it
        // cannot be reused part by part.
        entry.current = entry.current && Access::same_parts(*change.group, *change.previous);
    } else {
        entry.group = change.group;
        if (change.group) ++group_count_;
        if (change.previous) --group_count_;
        if (change.group || change.previous) changes.push_back(std::move(change));
    }
    if (!entry.gone) {
        share(entry);
        entry.dirty = false;
        return;
    }
    graph_.set_dependencies(entry, {});
    set_overfull(entry, false);
    entries_.erase(*ObjectPtr(entry.object));
}

/// The group of the current object from another view; null if there is none.
TargetGroupPtr RoleGroups::take_over(GroupEntry& entry) {
    if (entry.shares || !shared_.has_several_views()) return nullptr;
    TargetGroupPtr group = shared_.join(*entry.object);
    entry.shares = group != nullptr;
    return group;
}

/// Lets other views take over the entry's group if it is made from its object alone.
void RoleGroups::share(GroupEntry& entry) {
    const bool alone = generation_.asked.empty() && entry.current && entry.group;
    if (!alone || entry.shares || !shared_.has_several_views()) return;
    shared_.add(*entry.object, entry.group);
    entry.shares = true;
}

void RoleGroups::stop_sharing(GroupEntry& entry) {
    if (entry.shares) shared_.leave(*entry.object);
    entry.shares = false;
}

TargetGroupPtr RoleGroups::generate(GroupEntry& entry, bool replaced) {
    generation_.entry = &entry;
    generation_.reuses = entry.current && entry.group;
    generation_.premise = false;
    generation_.parts_made = 0;
    generation_.asked.clear();
    generation_.begins.clear();
    generation_.overfull = false;
    TargetGroupPtr group = take_over(entry);
    // A replacement shares nothing with the old object, and keeps no targets of it.
    const TargetGroupPtr earlier = replaced ? nullptr : entry.group;
    if (!group) group = make(entry, earlier);
    entry.current = false;  // in case remembering ends with an exception
    remember_lookups(entry);
    entry.premise = generation_.premise;
    entry.current = !generation_.overfull;
    set_overfull(entry, generation_.overfull);
    return entry.current ? group : earlier;
}

TargetGroupPtr RoleGroups::make(const GroupEntry& entry, const TargetGroupPtr& earlier) {
    GeneratorContext context{maker_.options, maker_.factory, *this, builder_};
    TargetGroupPtr group = detail::generate(role_, *entry.object, context, earlier);
    generation_.overfull = builder_.overfull();
    Metrics& metrics = *environment_.metrics;
    metrics.groups_generated.fetch_add(1, std::memory_order_relaxed);
    metrics.target_parts_generated.fetch_add(generation_.parts_made, std::memory_order_relaxed);
    return group;
}

const Object* RoleGroups::find(Kind kind, std::string_view ns, std::string_view name) {
    Graph::Recorded& asked = generation_.asked;
    graph_.record(kind, ns, name, asked);
    // Parts make few lookups, often the same ones for each target.
    const std::size_t begin = generation_.begins.empty() ? 0 : generation_.begins.back();
    const auto known =
        std::find(asked.begin() + static_cast<std::ptrdiff_t>(begin), asked.end(), asked.back());
    if (known != asked.end() - 1) asked.pop_back();
    return watches_.find(kind, ns, name);
}

// --- parts ---------------------------------------------------------------------------------------

void RoleGroups::begin_parts(bool premise) {
    generation_.premise = premise;
    generation_.reuses = generation_.reuses && premise == generation_.entry->premise;
}

bool RoleGroups::begin_part() {
    const std::size_t part = generation_.begins.size();
    generation_.begins.push_back(static_cast<std::uint32_t>(generation_.asked.size()));
    if (generation_.reuses) {
        const PartLookups* const earlier = generation_.entry->asked.of_parts();
        if (!earlier || ask_again(*earlier, part)) return true;
    }
    ++generation_.parts_made;
    return false;
}

/// Reuses the recorded lookups of an earlier part for this one, unless a result has changed.
bool RoleGroups::ask_again(const PartLookups& earlier, std::size_t part) {
    const std::size_t next = part + 1;
    const auto begin = earlier.asked.begin() + earlier.begins[part];
    const auto end = next == earlier.begins.size() ? earlier.asked.end()
                                                   : earlier.asked.begin() + earlier.begins[next];
    const auto has_changed = [&](const Graph::Dependency* object) {
        return object->changed_at() > earlier.as_of;
    };
    if (std::any_of(begin, end, has_changed)) return false;
    generation_.asked.insert(generation_.asked.end(), begin, end);
    return true;
}

void RoleGroups::remember_lookups(GroupEntry& entry) {
    const Graph::Recorded& asked = generation_.asked;
    const std::vector<std::uint32_t>& begins = generation_.begins;
    const bool parts_ask = !begins.empty() && begins.front() != asked.size();
    // A role that looks up another kind names it in add_needed_kinds().
    assert(asked.empty() || may_ask_);
    if (!may_ask_) return;
    Graph::Dependencies& known = entry.asked;
    if (!known.of_parts() || !is_same(*known.of_parts(), generation_)) {
        // Before the graph forgets objects, and an exception leaves pointers to them.
        known.drop_of_parts();
        graph_.set_dependencies(entry, asked);
        if (!parts_ask) return;
        auto lookups = std::make_unique<PartLookups>();
        lookups->asked.assign(asked.begin(), asked.end());
        lookups->begins.assign(begins.begin(), begins.end());
        known.set_of_parts(std::move(lookups));
    }
    known.of_parts()->as_of = graph_.now();
}

bool RoleGroups::is_same(const PartLookups& earlier, const Generation& now) {
    return earlier.begins == now.begins && std::equal(earlier.asked.begin(), earlier.asked.end(),
                                                      now.asked.begin(), now.asked.end());
}

// --- warnings ------------------------------------------------------------------------------------

void RoleGroups::set_overfull(GroupEntry& entry, bool overfull) {
    if (entry.overfull == overfull) return;
    if (overfull) {
        overfull_.add(entry.ns(), entry.name(), environment_.clock->now());
    } else {
        overfull_.remove(entry.ns(), entry.name());
    }
    entry.overfull = overfull;
    overfull_changed_ = true;
    if (!overfull) return;
    const Logger& logger = environment_.logger;
    if (!logger.enabled(LogLevel::warning)) return;
    const Kind kind = main_kind(role_);
    const std::string text =
        too_many_targets(kind, entry.ns(), entry.name(), maker_.options.max_targets);
    logger.log({LogLevel::warning, LogEvent::targets_limited, text, kind, entry.ns()});
}

void RoleGroups::warn_of_over_capacity(const ObjectChange& change) const {
    if (!change.after || change.after->kind() != Kind::endpoints) return;
    const auto over_capacity = [](const ObjectPtr& object) {
        return object && static_cast<const EndpointsObject&>(*object).over_capacity;
    };
    if (!over_capacity(change.after) || over_capacity(change.before)) return;
    const Logger& logger = environment_.logger;
    if (!logger.enabled(LogLevel::warning)) return;
    const std::string text = "endpoints " + std::string(change.after->ns()) + "/" +
                             std::string(change.after->name()) +
                             " has been truncated, addresses are missing; use the role "
                             "endpointslice";
    logger.log({LogLevel::warning, LogEvent::endpoints_truncated, text, Kind::endpoints,
                change.after->ns()});
}

}  // namespace k8s_sd::inline v0::detail
