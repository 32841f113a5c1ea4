#pragma once

#include "sim/store/object.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// A change in the history of a resource.
struct Change {
    std::uint64_t version = 0;
    ObjectPtr object;    ///< null: deleted
    ObjectPtr previous;  ///< null: created
    ObjectPtr deleted;   ///< for a deletion: the last state with the deletion's version
    /// Not a change but an event as JSON, for running watches with bookmarks.
    std::string recorded;
};

/// Objects of one resource at one version.
struct Snapshot {
    std::uint64_t version = 0;
    std::vector<ObjectPtr> objects;  ///< in the order of keys
    std::uint64_t next = 0;          ///< position in the history after this state
    std::uint64_t epoch = 0;
};

/// The objects and their history, under one counter of versions. All members are thread-safe.
class Store {
 public:
    explicit Store(std::size_t history) : history_limit_(history) {}

    /// \returns the object's version and whether anything changed
    std::pair<std::uint64_t, bool> apply(const ResourceType&, boost::json::object);
    /// Calls `change` with the stored object, or null if there is none, and stores the result,
    /// atomically. The server keeps the uid, or makes one. `change` must not call the store.
    /// \returns the stored object \throws any exception of `change`, without any change
    ObjectPtr edit(const ResourceType&, std::string_view key,
                   const std::function<boost::json::object(const Object*)>& change);
    /// \param check  called with the object; if it throws, the object stays
    /// \returns the removed object; null if there was none
    ObjectPtr remove(const ResourceType&, std::string_view key,
                     const std::function<void(const Object&)>& check = {});
    /// Like apply or remove, with the version of the recorded object.
    void replay(const ResourceType&, boost::json::object, bool deleted);
    /// Puts an event into the stream of changes; `version` moves the counter.
    void append_recorded(const ResourceType&, std::uint64_t version, std::string event);
    void load(const ResourceType&, std::uint64_t version, const boost::json::array& items);
    void compact();

    std::uint64_t version() const;
    /// Versions before this one are compacted.
    std::uint64_t oldest_version(const ResourceType&) const;
    ObjectPtr get(const ResourceType&, std::string_view key) const;
    std::size_t count(const ResourceType&) const;

    /// The latest state; of one namespace if `ns` is not empty.
    Snapshot newest(const ResourceType&, std::string_view ns) const;
    /// The latest state, of one object only.
    Snapshot newest_of(const ResourceType&, std::string_view key) const;
    /// The state at `version`; nullopt if it is compacted.
    std::optional<Snapshot> at(const ResourceType&, std::string_view ns,
                               std::uint64_t version) const;

    /// A position in the history of a resource.
    struct Position {
        std::uint64_t next = 0;
        std::uint64_t epoch = 0;
    };
    /// The start of a watch from `version`; nullopt if it is compacted.
    std::optional<Position> position_after(const ResourceType&, std::uint64_t version) const;

    enum class ReadResult {
        more,      ///< `visit` stopped before the end
        end,       ///< all changes were visited, up to `version`
        lost,      ///< changes from this position are no longer kept
        replaced,  ///< the content was reloaded since the position was taken
    };
    /// Calls `visit(change)` for the changes from `position`, and advances it, until `visit`
    /// returns false. The store is locked meanwhile.
    ReadResult read(const ResourceType&, Position& position, std::uint64_t& version,
                    const std::function<bool(const Change&)>& visit) const;
    /// Number of changes after `position`.
    std::uint64_t unread(const ResourceType&, const Position& position) const;

 private:
    struct ByKey {
        using is_transparent = void;
        static std::string_view key(const ObjectPtr& o) { return o->key(); }
        static std::string_view key(std::string_view k) { return k; }
        template <class A, class B>
        bool operator()(const A& a, const B& b) const {
            return key(a) < key(b);
        }
    };
    using Objects = std::set<ObjectPtr, ByKey>;
    struct Collection {
        Objects objects;
        std::deque<Change> changes;
        std::uint64_t first = 0;      ///< position of changes.front()
        std::uint64_t forgotten = 0;  ///< versions before this one are compacted
        std::uint64_t epoch = 0;      ///< counts load()

        std::uint64_t end() const { return first + changes.size(); }
    };

    /// Created at the first call.
    Collection& of(const ResourceType& type) const;
    void put(Collection&, ObjectPtr);
    /// \returns the stored object, and whether anything changed
    std::pair<ObjectPtr, bool> put(const ResourceType&, boost::json::object);
    bool erase(Collection&, std::string_view key, ObjectPtr last_state);
    void append(Collection&, Change);
    static Snapshot select(const Collection&, const Objects&, std::string_view ns,
                           std::uint64_t version);

    mutable std::mutex mutex_;
    std::size_t history_limit_;
    std::uint64_t version_ = 1;
    std::uint64_t compacted_ = 0;  ///< the version at compact()
    mutable std::map<const ResourceType*, Collection> collections_;
};

}  // namespace k8s_sd::inline v0::sim
