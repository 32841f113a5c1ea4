#pragma once

#include "k8s_sd/detail/base/split_set.hpp"
#include "k8s_sd/objects/object.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Some of the objects of a set, in the parts of that set (SplitSet): each part grows alone, and a
/// lookup in the part of an object does not read the object. With half a million objects in a
/// single table, its growth takes 8 ms, and a lookup of each object 20 ms.
class ListedObjects {
 public:
    void add(const Object& object) {
        if (parts_.size() == 1 && size_ >= split_set_limit) split();
        size_ += part(object).insert(&object).second ? 1U : 0U;
    }
    void remove(const Object& object) { size_ -= part(object).erase(&object); }
    /// \param number  that of the object's part in the other set
    bool contains(const Object& object, std::size_t number) const {
        const bool is_known = parts_.size() > 1 && number != not_split;
        return (is_known ? parts_[number] : part(object)).contains(&object);
    }
    std::size_t size() const noexcept { return size_; }

 private:
    using Part = boost::unordered_flat_set<const Object*>;

    std::size_t number_of(const Object& object) const noexcept {
        return parts_.size() == 1 ? 0 : split_set_part(object.key_hash());
    }
    Part& part(const Object& object) noexcept { return parts_[number_of(object)]; }
    const Part& part(const Object& object) const noexcept { return parts_[number_of(object)]; }
    void split() {
        std::vector<Part> parts(split_set_parts);
        for (const Object* object : parts_.front())
            parts[split_set_part(object->key_hash())].insert(object);
        parts_ = std::move(parts);
    }

    std::vector<Part> parts_ = std::vector<Part>(1);
    std::size_t size_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
