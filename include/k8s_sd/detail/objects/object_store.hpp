#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/base/split_set.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/objects/object.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
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

/// The hash of an object is stored in it. A table that grows reads its objects then, 4 096 at most
/// at a time: SplitSet. Beside the pointers in the table, hashes took 13 bytes an object more.
struct ObjectKeyHash {
    using is_transparent = void;
    std::size_t operator()(const NameView& key) const noexcept {
        return short_key_hash(key.ns, key.name);
    }
    std::size_t operator()(const ObjectPtr& object) const noexcept { return object->key_hash(); }
};

/// The objects of a store. A few are in a vector, because the smallest table takes 512 bytes and
/// there may be a watch for each object.
class ObjectSet {
 public:
    /// Null: no such object.
    const ObjectPtr* find(const NameView& key) const {
        if (table_) return table_->find(key);
        for (const ObjectPtr& object : few_) {
            if (KeyEqual{}(key, object)) return &object;
        }
        return nullptr;
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
        if (!table_ && few_.size() < max_few) {
            few_.emplace_back(std::move(object));
            return;
        }
        if (!table_) {
            Table table;
            for (const ObjectPtr& known : few_) table.insert(known);
            table_ = Rare<Table>(std::move(table));
            few_ = std::vector<ObjectPtr>();
        }
        table_->insert(std::move(object));
    }
    void erase(const NameView& key) {
        std::erase_if(few_, [&](const ObjectPtr& object) { return KeyEqual{}(key, object); });
        if (!table_) return;
        table_->erase(key);
        drop_empty_table();
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (const ObjectPtr& object : few_) visit(object);
        if (table_) table_->for_each([&](const ObjectPtr& object) { visit(object); });
    }
    template <class Predicate>
    void erase_if(Predicate predicate) {
        std::erase_if(few_, predicate);
        if (!table_) return;
        table_->erase_if(predicate);
        drop_empty_table();
    }
    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return few_.size() + (table_ ? table_->size() : 0); }

 private:
    using Table = SplitSet<ObjectPtr, ObjectKeyHash, KeyEqual>;

    static constexpr std::size_t max_few = 8;

    void drop_empty_table() noexcept {
        if (table_->empty()) table_.reset();
    }

    // One of them is empty.
    std::vector<ObjectPtr> few_;
    Rare<Table> table_;  // null: empty
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
        listed_.reset();
        nameless_ = false;
        // Before the first list there is nothing to remove, so no tracking is necessary.
        tracking_ = !objects_.empty();
        known_ = objects_.size();
    }
    ObjectChange put_listed(ObjectPtr object) {
        const std::string_view ns = object->ns();
        const std::string_view name = object->name();
        ObjectChange change = put(ObjectPtr(object));
        // The list may have contained another version of the object already.
        if (change.before) unlist(*change.before);
        mark_listed(ns, name);
        return change;
    }
    /// The list contains the object in an unreadable form: its known content stays.
    void mark_listed(std::string_view ns, std::string_view name) {
        if (!tracking_) return;
        if (const Object* known = find(ns, name)) listed_.use().insert(known);
    }
    /// The list contains an object with an unreadable name: it may be any unlisted object, so all
    /// of those stay.
    void mark_nameless() noexcept { nameless_ = tracking_; }
    bool has_nameless() const noexcept { return nameless_; }
    /// The number of unlisted objects, once the list is complete.
    std::size_t missing() const noexcept {
        return tracking_ ? objects_.size() - count_listed() : 0;
    }
    /// The number of objects at the start of the list.
    std::size_t known_before_list() const noexcept { return known_; }
    /// The list is complete.
    /// \returns the removals
    std::vector<ObjectChange> finish_list() {
        std::vector<ObjectChange> removals;
        if (tracking_ && !nameless_ && count_listed() != objects_.size()) {
            objects_.erase_if([&](const ObjectPtr& object) {
                if (listed_ && listed_->contains(object.get())) return false;
                removals.push_back({object, nullptr});
                return true;
            });
        }
        listed_.reset();
        tracking_ = nameless_ = false;
        return removals;
    }

 private:
    static bool is_equal(const Object& a, const Object& b) noexcept {
        return a.same_uid(b) && ObjectTag::of(a) == ObjectTag::of(b) &&
               a.has_labels() == b.has_labels() && a.has_api_object() == b.has_api_object() &&
               a.same_content(b) && ObjectTag::of(a) != ObjectTag::apart;
    }

    std::size_t count_listed() const noexcept { return listed_ ? listed_->size() : 0; }
    void unlist(const Object& object) {
        if (listed_) listed_->erase(&object);
    }

    ObjectSet objects_;
    Rare<boost::unordered_flat_set<const Object*>> listed_;  // objects of objects_ listed so far
    std::size_t known_ = 0;                                  // when the list began
    bool tracking_ = false;
    bool nameless_ = false;  // the list contains an unnamed object
};

}  // namespace k8s_sd::inline v0::detail
