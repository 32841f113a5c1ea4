#pragma once

#include "k8s_sd/detail/groups/dependency_graph.hpp"
#include "k8s_sd/detail/groups/watch_set.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The target groups of one role in one view. Each is generated once, and again when an object
/// that reached it has changed. Strand-confined.
class RoleGroups final : private Lookup {
 public:
    /// Begins with the objects that are watched already.
    RoleGroups(Role role, const WatchSet& watches, ObjectMaker& maker, const Environment& env);
    RoleGroups(const RoleGroups&) = delete;
    RoleGroups& operator=(const RoleGroups&) = delete;

    /// An object of any kind was added, changed or removed: marks the groups that it reaches.
    void on_change(const ObjectChange&);
    /// Whether groups are to be generated.
    bool dirty() const noexcept { return !dirty_.empty(); }
    /// Generates marked groups, at most `limit`. Returns what has changed.
    std::vector<GroupChange> update(std::size_t limit);

    std::size_t group_count() const {
        const auto has_group = [](const auto& entry) { return entry->group != nullptr; };
        return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), has_group));
    }
    /// Every group that has targets.
    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        for (const auto& entry : entries_) {
            if (entry->group) visit(entry->group);
        }
    }

 private:
    struct Entry;
    using Graph = DependencyGraph<Entry>;

    /// A main object of the role, and the group made of it.
    struct Entry {
        ObjectPtr object;
        TargetGroupPtr group;                            // null: no targets
        std::unique_ptr<Graph::Dependencies> asked_for;  // null: nothing
        bool dirty = false;
        bool gone = false;
        bool replaced = false;  // by an object of the same name

        std::string_view ns() const noexcept { return object->ns(); }
        std::string_view name() const noexcept { return object->name(); }
        Graph::Dependencies& dependencies() const noexcept { return *asked_for; }
    };

    const Object* find(Kind, std::string_view ns, std::string_view name) override;
    void track(const ObjectChange&);
    void mark(Entry&);
    void regenerate(Entry&, std::vector<GroupChange>&);
    TargetGroupPtr generate(Entry&);
    void warn_of_too_many_targets(const Entry&) const;
    void warn_of_over_capacity(const ObjectChange&) const;

    const Role role_;
    const WatchSet& watches_;
    ObjectMaker& maker_;
    const Environment& environment_;
    boost::unordered_flat_set<Keyed<std::unique_ptr<Entry>>, KeyHash, KeyEqual> entries_;
    std::vector<Entry*> dirty_;
    Graph graph_;
    Graph::Dependencies asked_;
    GroupBuilder builder_;
};

}  // namespace k8s_sd::inline v0::detail
