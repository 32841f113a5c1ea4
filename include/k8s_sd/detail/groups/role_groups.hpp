#pragma once

#include "k8s_sd/detail/base/slab_set.hpp"
#include "k8s_sd/detail/groups/dependency_graph.hpp"
#include "k8s_sd/detail/groups/shared_groups.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/sharing/watch_set.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of a role with more than WatchOptions::max_targets_per_object targets. Their groups
/// stay as they were. Thread-safe.
class OverfullObjects {
 public:
    bool empty() const {
        const std::lock_guard lock(mutex_);
        return names_.empty();
    }
    void add(std::string_view ns, std::string_view name, TimePoint now);
    void remove(std::string_view ns, std::string_view name);
    void clear() {
        const std::lock_guard lock(mutex_);
        names_.clear();
    }
    /// Adds an error to the status of the watches of these objects, unless they have another one.
    /// \param limit  the limit for each object
    void add_to(std::vector<WatchStatus>& statuses, Kind kind, std::size_t limit) const;

 private:
    using Names = std::set<std::string, std::less<>>;

    mutable std::mutex mutex_;
    std::map<std::string, Names, std::less<>> names_;  ///< by namespace
    TimePoint since_{};                                ///< when the first of them was added
};

/// The problem of one such object, in words.
std::string too_many_targets(Kind kind, std::string_view ns, std::string_view name,
                             std::size_t limit);

/// The target groups of one role in one view. A change of an object regenerates the dependent
/// groups, and in them only the dependent parts. Strand-confined.
class RoleGroups final : private Lookup {
 public:
    /// Starts with the objects already watched.
    /// \param shared    the role's groups of all views with the options of `maker`
    /// \param overfull  receives the objects with too many targets
    /// All arguments must outlive this.
    RoleGroups(Role role, const WatchSet& watches, ObjectMaker& maker, SharedGroups& shared,
               const Environment& env, OverfullObjects& overfull);
    ~RoleGroups();
    RoleGroups(const RoleGroups&) = delete;
    RoleGroups& operator=(const RoleGroups&) = delete;

    /// Marks the groups that depend on an added, changed or removed object.
    void on_change(const ObjectChange&);
    /// Whether other views have the same settings and role.
    bool has_other_views() const noexcept { return shared_.has_several_views(); }
    /// Whether groups are marked.
    bool dirty() const noexcept { return !dirty_.empty(); }
    std::size_t dirty_count() const noexcept { return dirty_.size(); }
    /// Regenerates at most `limit` marked groups, fewer if they have many targets.
    /// \returns the changed ones
    std::vector<GroupChange> update(std::size_t limit);

    std::size_t group_count() const noexcept { return group_count_; }
    std::size_t object_count() const noexcept { return entries_.size(); }
    /// Whether the objects with too many targets have changed since the last call.
    bool take_overfull_change() noexcept { return std::exchange(overfull_changed_, false); }
    /// Visits every group with targets.
    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        entries_.for_each([&](const GroupEntry& entry) {
            if (entry.group) visit(entry.group);
        });
    }

 private:
    struct GroupEntry;
    using Graph = DependencyGraph<GroupEntry>;
    using PartLookups = Graph::PartLookups;

    /// A main object of the role, and its group. With a thousand jobs there are a thousand entries
    /// for an object, so an entry is small: 32 bytes, and a number in the table.
    struct GroupEntry {
        explicit GroupEntry(const ObjectPtr& main) noexcept : object(main) {}

        ObjectPtr object;
        TargetGroupPtr group;  // null: no targets
        [[no_unique_address]] Graph::Dependencies asked;
        // In the padding behind `asked`.
        bool dirty : 1 = false;
        bool gone : 1 = false;
        bool replaced : 1 = false;  // by an object of the same name
        bool current : 1 = false;   // the group reflects the current object
        bool premise : 1 = false;   // premise of the current parts
        bool overfull : 1 = false;  // the current object has too many targets
        bool shares : 1 = false;    // is a user of the object's shared group

        std::string_view ns() const noexcept { return object->ns(); }
        std::string_view name() const noexcept { return object->name(); }
        Graph::Dependencies& dependencies() noexcept { return asked; }
    };
    static_assert(sizeof(GroupEntry) <= 32);
    /// By the key of an object.
    struct EntryHash {
        std::size_t operator()(const Object& key) const noexcept { return key.key_hash(); }
        std::size_t operator()(const GroupEntry& entry) const noexcept {
            return entry.object->key_hash();
        }
    };
    struct EntryEqual {
        bool operator()(const Object& key, const GroupEntry& entry) const noexcept {
            return KeyEqual{}(NameView{key.ns(), key.name()}, entry.object);
        }
    };

    /// The current generation of a group.
    struct Generation {
        const GroupEntry* entry = nullptr;
        bool reuses = false;  // reuses parts of the earlier group
        bool premise = false;
        bool overfull = false;  // the object has too many targets
        std::uint64_t parts_made = 0;
        Graph::Recorded asked;
        std::vector<std::uint32_t> begins;  // index in `asked` of each part's first lookup
    };

    const Object* find(Kind, std::string_view ns, std::string_view name) override;
    void begin_parts(bool premise) override;
    bool begin_part() override;
    bool ask_again(const PartLookups& earlier, std::size_t part);
    void remember_lookups(GroupEntry&);
    static bool is_same(const PartLookups& earlier, const Generation& now);
    void track(const ObjectChange&);
    void mark(GroupEntry&);
    void regenerate(GroupEntry&, std::vector<GroupChange>&);
    TargetGroupPtr generate(GroupEntry&, bool replaced);
    TargetGroupPtr make(const GroupEntry&, const TargetGroupPtr& earlier);
    TargetGroupPtr take_over(GroupEntry&);
    void share(GroupEntry&);
    void stop_sharing(GroupEntry&);
    void set_overfull(GroupEntry&, bool overfull);
    void warn_of_over_capacity(const ObjectChange&) const;

    const Role role_;
    const WatchSet& watches_;
    ObjectMaker& maker_;
    SharedGroups& shared_;
    const Environment& environment_;
    const bool may_ask_;  ///< the role's generator may look up other objects
    SlabSet<GroupEntry, EntryHash, EntryEqual> entries_;
    std::size_t group_count_ = 0;
    std::vector<GroupEntry*> dirty_;
    Graph graph_;
    Generation generation_;
    GroupBuilder builder_;
    OverfullObjects& overfull_;
    bool overfull_changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
