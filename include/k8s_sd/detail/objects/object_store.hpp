#pragma once

#include "k8s_sd/detail/base/hash.hpp"
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

/// A pointer to an element with ns() and name(), next to their hash. A growing table rehashes
/// without access to the elements; that access blocked the strand for tens of milliseconds.
template <class Pointer>
class Keyed {
 public:
    Keyed(Pointer pointer)
        : hash_(seeded_hash(pointer->ns(), pointer->name())), pointer_(std::move(pointer)) {}

    std::size_t hash() const noexcept { return hash_; }
    operator const Pointer&() const noexcept { return pointer_; }
    auto get() const noexcept { return pointer_.get(); }
    auto& operator*() const noexcept { return *pointer_; }
    auto* operator->() const noexcept { return pointer_.get(); }
    /// Replaces the pointer with one to an element with the same key, even in a set.
    /// \returns the old pointer
    Pointer exchange(Pointer pointer) const noexcept {
        return std::exchange(pointer_, std::move(pointer));
    }

 private:
    std::size_t hash_;
    mutable Pointer pointer_;
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
    template <class Pointer>
    std::size_t operator()(const Keyed<Pointer>& keyed) const noexcept {
        return keyed.hash();
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

/// The objects of one collection. An update with equal content and equal matching views is no
/// change. A list replaces the objects one by one; its end removes the objects not listed. An
/// object present on the server is never missing in between.
class ObjectStore {
 public:
    using Objects = boost::unordered_flat_set<Keyed<ObjectPtr>, KeyHash, KeyEqual>;

    const Object* find(std::string_view ns, std::string_view name) const {
        const auto it = objects_.find(NameView{ns, name});
        return it == objects_.end() ? nullptr : it->get();
    }
    const Objects& objects() const noexcept { return objects_; }
    std::size_t size() const noexcept { return objects_.size(); }

    /// \returns two null pointers if the content is equal
    ObjectChange put(ObjectPtr object) {
        const auto [it, added] = objects_.insert(object);
        if (added) return {nullptr, std::move(object)};
        if (is_equal(**it, *object)) return {};
        // Erase and insert would cause occasional rehashes.
        ObjectPtr before = it->exchange(object);
        return {std::move(before), std::move(object)};
    }
    ObjectChange remove(std::string_view ns, std::string_view name) {
        const auto it = objects_.find(NameView{ns, name});
        if (it == objects_.end()) return {};
        ObjectPtr before = *it;
        objects_.erase(it);
        listed_.erase(before.get());
        return {std::move(before), nullptr};
    }

    /// A list starts: no object is listed yet.
    void begin_list() {
        listed_.clear();
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
        if (change.before) listed_.erase(change.before.get());
        mark_listed(ns, name);
        return change;
    }
    /// The list contains the object in an unreadable form: its known content stays.
    void mark_listed(std::string_view ns, std::string_view name) {
        if (!tracking_) return;
        if (const Object* known = find(ns, name)) listed_.insert(known);
    }
    /// The list contains an object with an unreadable name: it may be any unlisted object, so all
    /// of those stay.
    void mark_nameless() noexcept { nameless_ = tracking_; }
    bool has_nameless() const noexcept { return nameless_; }
    /// The number of unlisted objects, once the list is complete.
    std::size_t missing() const noexcept {
        return tracking_ ? objects_.size() - listed_.size() : 0;
    }
    /// The number of objects at the start of the list.
    std::size_t known_before_list() const noexcept { return known_; }
    /// The list is complete.
    /// \returns the removals
    std::vector<ObjectChange> finish_list() {
        std::vector<ObjectChange> removals;
        if (tracking_ && !nameless_ && listed_.size() != objects_.size()) {
            for (auto it = objects_.begin(); it != objects_.end();) {
                const auto here = it++;
                if (listed_.contains(here->get())) continue;
                removals.push_back({*here, nullptr});
                objects_.erase(here);
            }
        }
        listed_ = {};
        tracking_ = nameless_ = false;
        return removals;
    }

 private:
    static bool is_equal(const Object& a, const Object& b) noexcept {
        return a.same_uid(b) && ObjectTag::of(a) == ObjectTag::of(b) &&
               a.has_labels() == b.has_labels() && a.has_api_object() == b.has_api_object() &&
               a.same_content(b) && ObjectTag::of(a) != ObjectTag::apart;
    }

    Objects objects_;
    boost::unordered_flat_set<const Object*> listed_;  // objects of objects_ listed so far
    std::size_t known_ = 0;                            // when the list began
    bool tracking_ = false;
    bool nameless_ = false;  // the list contains an unnamed object
};

}  // namespace k8s_sd::inline v0::detail
