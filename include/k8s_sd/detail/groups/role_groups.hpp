#pragma once

#include "k8s_sd/detail/groups/dependency_graph.hpp"
#include "k8s_sd/detail/groups/watch_set.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The target groups of one role in one view. Each is generated once, and again when an object
/// that reached it has changed: then only those of its parts that had asked for the object.
/// Strand-confined.
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

    std::size_t group_count() const noexcept { return group_count_; }
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

    /// Who asked what, in order: first the group as a whole, then each part.
    struct Questions {
        std::vector<Graph::Dependency*> asked;
        std::vector<std::uint32_t> begins;  // of each part
        std::uint64_t as_of = 0;            // DependencyGraph::now() when they were answered
    };
    struct Asked {
        Graph::Dependencies objects;
        std::unique_ptr<Questions> of_parts;  // null: no part has asked anything
    };

    /// A main object of the role, and the group made of it.
    struct Entry {
        ObjectPtr object;
        TargetGroupPtr group;              // null: no targets
        std::unique_ptr<Asked> asked_for;  // null: nothing
        bool dirty = false;
        bool gone = false;
        bool replaced = false;  // by an object of the same name
        bool current = false;   // the group was made of the object as it is
        bool premise = false;   // that its parts were made with

        std::string_view ns() const noexcept { return object->ns(); }
        std::string_view name() const noexcept { return object->name(); }
        Graph::Dependencies& dependencies() const noexcept { return asked_for->objects; }
    };

    /// The group that is being generated.
    struct Generation {
        const Entry* entry = nullptr;
        bool reuses = false;  // parts of the earlier group
        bool premise = false;
        std::uint64_t parts_made = 0;
        Graph::Dependencies asked;
        std::vector<std::uint32_t> begins;  // in `asked`, of each part
    };

    const Object* find(Kind, std::string_view ns, std::string_view name) override;
    void begin_parts(bool premise) override;
    bool begin_part() override;
    bool ask_again(const Questions& earlier, std::size_t part);
    void remember_questions(Entry&);
    static bool is_same(const Questions& earlier, const Generation& now);
    void track(const ObjectChange&);
    void mark(Entry&);
    void regenerate(Entry&, std::vector<GroupChange>&);
    TargetGroupPtr generate(Entry&, bool replaced);
    void warn_of_too_many_targets(const Entry&) const;
    void warn_of_over_capacity(const ObjectChange&) const;

    const Role role_;
    const WatchSet& watches_;
    ObjectMaker& maker_;
    const Environment& environment_;
    boost::unordered_flat_set<Keyed<std::unique_ptr<Entry>>, KeyHash, KeyEqual> entries_;
    std::size_t group_count_ = 0;
    std::vector<Entry*> dirty_;
    Graph graph_;
    Generation generation_;
    GroupBuilder builder_;
};

}  // namespace k8s_sd::inline v0::detail
