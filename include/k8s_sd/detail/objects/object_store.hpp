#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/base/split_set.hpp"
#include "k8s_sd/detail/objects/listed_objects.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/objects/object.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct NameView {
    std::string_view ns, name;
};

/// Hash and equality by ns() and name(), for sets of pointers.
struct KeyHash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(const NameView& key) const noexcept {
        return seeded_hash(key.ns, key.name);
    }
    template <class Pointer>
    std::size_t operator()(const Pointer& p) const noexcept {
        return seeded_hash(p->ns(), p->name());
    }
};
struct KeyEqual {
    using is_transparent = void;
    static NameView key(const NameView& k) noexcept { return k; }
    template <class Pointer>
    static NameView key(const Pointer& p) noexcept {
        return {p->ns(), p->name()};
    }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        const NameView x = key(a);
        const NameView y = key(b);
        return x.name == y.name && x.ns == y.ns;
    }
};

/// The hash of an object is stored in it. A table that grows reads its objects then, a 128th of
/// them at a time: SplitSet. Beside the pointers in the table, hashes took 13 bytes an object more.
struct ObjectKeyHash {
    using is_transparent = void;
    std::size_t operator()(const NameView& key) const noexcept {
        return short_key_hash(key.ns, key.name);
    }
    std::size_t operator()(const ObjectPtr& object) const noexcept { return object->key_hash(); }
};

/// The objects of a store. A single one is a member, and a few are in a vector: the smallest table
/// takes 512 bytes, and there may be a watch for each object.
class ObjectSet {
 public:
    /// Null: no such object.
    const ObjectPtr* find(const NameView& key) const {
        if (table_) return table_->find(key);
        if (single_) return KeyEqual{}(key, single_) ? &single_ : nullptr;
        if (!few_) return nullptr;
        const auto found = std::find_if(few_->begin(), few_->end(), [&](const ObjectPtr& object) {
            return KeyEqual{}(key, object);
        });
        return found == few_->end() ? nullptr : &*found;
    }
    /// Replaces an object of the set with one of the same key.
    /// \param known  from find()
    /// \returns the old object
    static ObjectPtr exchange(const ObjectPtr& known, ObjectPtr object) noexcept {
        // Same key, same hash. Erase and insert would cause occasional rehashes.
        return std::exchange(const_cast<ObjectPtr&>(known), std::move(object));
    }
    /// The set must not contain the key.
    void add(ObjectPtr object) {
        if (empty()) {
            single_ = std::move(object);
        } else if (!table_ && size() < max_few) {
            if (!few_) few_ = std::vector<ObjectPtr>{single_};
            single_.reset();
            few_->emplace_back(std::move(object));
        } else {
            if (!table_) become_table();
            table_->insert(std::move(object));
        }
    }
    void erase(const NameView& key) {
        if (table_) {
            table_->erase(key);
        } else {
            erase_few([&](const ObjectPtr& object) { return KeyEqual{}(key, object); });
        }
        drop_if_empty();
    }
    template <class Visit>
    void for_each(Visit visit) const {
        if (single_) visit(single_);
        if (few_) {
            for (const ObjectPtr& object : *few_) visit(object);
        }
        if (table_) table_->for_each([&](const ObjectPtr& object) { visit(object); });
    }
    /// See SplitSet::erase_some().
    template <class Predicate>
    std::size_t erase_some(std::size_t first, std::size_t limit, Predicate predicate) {
        std::size_t next = split_set_parts;
        if (table_) {
            next = table_->erase_some(first, limit, predicate);
        } else {
            erase_few([&](const ObjectPtr& object) {
                if (limit == 0) next = 0;
                if (limit == 0 || !predicate(object, not_split)) return false;
                --limit;
                return true;
            });
        }
        drop_if_empty();
        return next;
    }
    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept {
        if (table_) return table_->size();
        return few_ ? few_->size() : single_ ? 1 : 0;
    }

 private:
    using Table = SplitSet<ObjectPtr, ObjectKeyHash, KeyEqual>;

    static constexpr std::size_t max_few = 8;

    void become_table() {
        Table table;
        for (const ObjectPtr& object : *few_) table.insert(object);
        table_ = Rare<Table>(std::move(table));
        few_.reset();
    }
    template <class Predicate>
    void erase_few(Predicate predicate) {
        if (few_) {
            std::erase_if(*few_, predicate);
        } else if (single_ && predicate(single_)) {
            single_.reset();
        }
    }
    void drop_if_empty() noexcept {
        if (!empty()) return;
        few_.reset();
        table_.reset();
    }

    // At most one of them is there.
    ObjectPtr single_;  // null: none
    Rare<std::vector<ObjectPtr>> few_;
    Rare<Table> table_;
};

/// The objects of one collection. An update with equal content and equal matching views is no
/// change. A list replaces the objects one by one; its end removes the objects not listed. An
/// object present on the server is never missing in between.
class ObjectStore {
 public:
    const Object* find(std::string_view ns, std::string_view name) const {
        const auto* const known = objects_.find({ns, name});
        return known ? known->get() : nullptr;
    }
    const ObjectSet& objects() const noexcept { return objects_; }
    std::size_t size() const noexcept { return objects_.size(); }

    /// \returns two null pointers if the content is equal
    ObjectChange put(ObjectPtr object) {
        const auto* const known = objects_.find({object->ns(), object->name()});
        if (!known) {
            objects_.add(object);
            return {nullptr, std::move(object)};
        }
        if (is_equal(**known, *object)) return {};
        ObjectPtr before = ObjectSet::exchange(*known, object);
        return {std::move(before), std::move(object)};
    }
    ObjectChange remove(std::string_view ns, std::string_view name) {
        const auto* const known = objects_.find({ns, name});
        if (!known) return {};
        ObjectPtr before = *known;
        objects_.erase({before->ns(), before->name()});
        unlist(*before);
        return {std::move(before), nullptr};
    }

    /// A list starts: no object is listed yet.
    void begin_list() {
        list_.reset();
        // Before the first list there is nothing to remove, so no tracking is necessary.
        if (!objects_.empty()) list_.emplace().known = objects_.size();
    }
    ObjectChange put_listed(ObjectPtr object) {
        const std::string_view ns = object->ns();
        const std::string_view name = object->name();
        ObjectChange change = put(ObjectPtr(object));
        // The list may have contained another version of the object already.
        if (change.before) unlist(*change.before);
        try {
            mark_listed(ns, name);
        } catch (const std::bad_alloc&) {
            undo(change);
            throw;
        }
        return change;
    }
    /// Takes back the last put or removal. If it is repeated, it will be a change again.
    void undo(const ObjectChange& change) {
        if (!change.after) {
            if (change.before) objects_.add(change.before);
            return;
        }
        unlist(*change.after);
        const NameView key{change.after->ns(), change.after->name()};
        if (change.before) {
            ObjectSet::exchange(*objects_.find(key), change.before);
        } else {
            objects_.erase(key);
        }
    }
    /// The list contains the object in an unreadable form: its known content stays.
    void mark_listed(std::string_view ns, std::string_view name) {
        if (!list_) return;
        if (const Object* known = find(ns, name)) list_->objects.add(*known);
    }
    /// The list contains an object with an unreadable name: it may be any unlisted object, so all
    /// of those stay.
    void mark_nameless() noexcept {
        if (list_ && !list_->complete) list_->nameless = true;
    }
    bool has_nameless() const noexcept { return list_ && list_->nameless; }
    /// The number of unlisted objects, once the list is complete.
    std::size_t missing() const noexcept {
        return list_ ? objects_.size() - list_->objects.size() : 0;
    }
    /// The number of objects at the start of the list.
    std::size_t known_before_list() const noexcept { return list_ ? list_->known : 0; }
    /// The list is complete: removes missing objects. Call it until there are none left. In between
    /// put_listed() stores further objects.
    /// \param limit  bounds the number of removals, and the time
    /// \returns the removals
    std::vector<ObjectChange> finish_list(std::size_t limit) {
        std::vector<ObjectChange> removals;
        if (has_nameless() || missing() == 0) {
            list_.reset();
            return removals;
        }
        // An exception during the removal would lose objects.
        removals.reserve(std::min(limit, missing()));
        list_->complete = true;
        const auto is_removed = [&](const ObjectPtr& object, std::size_t part) {
            if (list_->objects.contains(*object, part)) return false;
            removals.push_back({object, nullptr});
            return true;
        };
        list_->next_part = objects_.erase_some(list_->next_part, limit, is_removed);
        if (list_->next_part == split_set_parts) list_.reset();
        return removals;
    }
    /// Keeps the objects that finish_list() has left to remove.
    void stop_finishing_list() noexcept {
        if (is_finishing_list()) list_.reset();
    }
    /// Whether finish_list() has been called and has more to remove.
    bool is_finishing_list() const noexcept { return list_ && list_->complete; }

 private:
    static bool is_equal(const Object& a, const Object& b) noexcept {
        return a.same_uid(b) && ObjectTag::of(a) == ObjectTag::of(b) &&
               a.has_labels() == b.has_labels() && a.has_api_object() == b.has_api_object() &&
               a.same_content(b) && ObjectTag::of(a) != ObjectTag::apart;
    }

    void unlist(const Object& object) {
        if (list_) list_->objects.remove(object);
    }

    /// A list in progress.
    struct List {
        ListedObjects objects;      // objects of objects_ listed so far
        std::size_t known = 0;      // when the list began
        bool nameless = false;      // the list contains an unnamed object
        bool complete = false;      // the removal of missing objects has begun
        std::size_t next_part = 0;  // for the removal
    };

    ObjectSet objects_;
    Rare<List> list_;  // null: none, or the store was empty when it began
};

}  // namespace k8s_sd::inline v0::detail
