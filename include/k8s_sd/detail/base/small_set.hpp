#pragma once

#include "k8s_sd/detail/base/make_room.hpp"
#include "k8s_sd/detail/base/rare.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A set with few elements most of the time, such as the groups of one of a thousand monitors. A
/// hash table has room for thirty elements at least, so few elements are in a list. Changes
/// invalidate pointers to elements.
/// \tparam Hash, Equal  for the elements and for other keys: transparent
template <class T, class Hash, class Equal>
class SmallSet {
 public:
    std::size_t size() const noexcept { return many_ ? many_->size() : few_.size(); }
    /// \returns null if there is none
    template <class Key>
    const T* find(const Key& key) const noexcept {
        if (many_) {
            const auto found = many_->find(key);
            return found == many_->end() ? nullptr : &*found;
        }
        const auto found = std::find_if(few_.begin(), few_.end(),
                                        [&](const T& element) { return Equal()(key, element); });
        return found == few_.end() ? nullptr : &*found;
    }
    /// Makes room for more elements: then insert() does not throw. Strong guarantee.
    void make_room(std::size_t more) {
        if (many_) return detail::make_room(*many_, more);
        const std::size_t needed = few_.size() + more;
        if (needed <= max_few) return few_.reserve(needed);
        Rare<Table> roomy;
        detail::make_room(roomy.emplace(), needed);
        // Nothing fails from here on.
        for (T& element : few_) roomy->insert(std::move(element));
        few_ = std::vector<T>();
        many_ = std::move(roomy);
    }
    /// Leaves the element as it is if there is an equal one.
    /// \returns the element of the set, and whether it is the new one
    std::pair<const T*, bool> insert(T&& element) {
        if (!many_) {
            if (const T* const known = find(element)) return {known, false};
            if (few_.size() == max_few) make_room(1);
        }
        if (many_) {
            const auto [place, is_new] = many_->insert(std::move(element));
            return {&*place, is_new};
        }
        return {&few_.emplace_back(std::move(element)), true};
    }
    /// \param element  of the set
    void erase(const T* element) noexcept {
        if (many_) {
            many_->erase(many_->find(*element));
        } else {
            few_.erase(few_.begin() + (element - few_.data()));
        }
    }
    template <class Predicate>
    void erase_if(const Predicate& predicate) {
        if (many_) {
            boost::unordered::erase_if(*many_, predicate);
        } else {
            std::erase_if(few_, predicate);
        }
    }
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const T& element : few_) visit(element);
        if (!many_) return;
        for (const T& element : *many_) visit(element);
    }

 private:
    using Table = boost::unordered_flat_set<T, Hash, Equal>;
    static constexpr std::size_t max_few = 8;

    std::vector<T> few_;  ///< empty if there are many
    Rare<Table> many_;
};

}  // namespace k8s_sd::inline v0::detail
