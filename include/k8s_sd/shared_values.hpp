#pragma once

#include "k8s_sd/detail/base/process_end.hpp"

#include <boost/iterator/indirect_iterator.hpp>
#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

// Jobs repeat the parts of other jobs: a thousand monitors have the same rules, discover in the
// same way, and scrape with the same client. Copies of the types below share such parts. These are
// immutable, so that any thread may copy, read and release them.

/// An immutable value, shared by its copies. Without a value it has the default one, which takes no
/// memory.
template <class T>
class SharedValue {
 public:
    SharedValue() = default;
    /// Takes the value.
    SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}

    /// The value.
    const T& operator*() const noexcept { return value_ ? *value_ : default_value(); }
    /// The value.
    const T* operator->() const noexcept { return &**this; }
    /// Replaces the value by a copy that `edit(T&)` has changed, in this object only.
    template <class Edit>
    void edit(Edit&& edit) {
        T copy = **this;
        edit(copy);
        *this = std::move(copy);
    }

    /// Compares the values.
    friend bool operator==(const SharedValue& a, const SharedValue& b) {
        return a.value_ == b.value_ || *a == *b;
    }
    /// Compares the values.
    friend std::strong_ordering operator<=>(const SharedValue& a, const SharedValue& b) {
        return a.value_ == b.value_ ? std::strong_ordering::equal : *a <=> *b;
    }

 private:
    static const T& default_value() noexcept {
        static const detail::Immortal<const T> value;
        return *value;
    }

    std::shared_ptr<const T> value_;
};

/// A list of immutable elements, made of a vector of elements. Copies of a list share its elements;
/// a changed element is a new one, in the changed list only.
template <class T>
class SharedList {
 public:
    using value_type = T;                             ///< type of the elements
    using const_reference = const T&;                 ///< of an element
    using size_type = std::size_t;                    ///< type of sizes
    using difference_type = std::ptrdiff_t;           ///< between iterators
    using shared_pointer = std::shared_ptr<const T>;  ///< of an element; never null
    /// Random access to the elements.
    using const_iterator =
        boost::indirect_iterator<typename std::vector<shared_pointer>::const_iterator>;
    using iterator = const_iterator;  ///< the same

    SharedList() = default;
    /// Copies the elements.
    SharedList(std::initializer_list<T> elements) { take(elements.begin(), elements.end()); }
    /// Copies the elements.
    SharedList(const std::vector<T>& elements) { take(elements.begin(), elements.end()); }
    /// Moves the elements.
    SharedList(std::vector<T>&& elements) {
        take(std::make_move_iterator(elements.begin()), std::make_move_iterator(elements.end()));
    }

    /// The first element.
    const_iterator begin() const noexcept { return const_iterator(elements_.begin()); }
    /// Behind the last element.
    const_iterator end() const noexcept { return const_iterator(elements_.end()); }
    std::size_t size() const noexcept { return elements_.size(); }  ///< number of elements
    bool empty() const noexcept { return elements_.empty(); }       ///< whether there are none
    /// \pre i < size()
    const T& operator[](std::size_t i) const noexcept { return *elements_[i]; }
    /// \throws std::out_of_range unless i < size()
    const T& at(std::size_t i) const { return *elements_.at(i); }
    /// For share() of another list. \pre i < size()
    const shared_pointer& pointer(std::size_t i) const noexcept { return elements_[i]; }
    /// \pre !empty()
    const T& front() const noexcept { return *elements_.front(); }
    /// \pre !empty()
    const T& back() const noexcept { return *elements_.back(); }

    /// Copies of the elements.
    std::vector<T> copy() const { return {begin(), end()}; }

    void reserve(std::size_t count) { elements_.reserve(count); }  ///< makes room for elements
    /// Appends an element.
    void push_back(T element) { share(std::make_shared<const T>(std::move(element))); }
    /// Appends an element of other lists.
    void share(shared_pointer element) { elements_.push_back(std::move(element)); }
    /// Appends the elements of a list, which may be this one.
    void append(const SharedList& other) {
        const std::size_t count = other.size();
        for (std::size_t i = 0; i < count; ++i) share(other.elements_[i]);
    }
    /// Replaces one element, in this list only. \pre i < size()
    void replace(std::size_t i, T element) {
        elements_[i] = std::make_shared<const T>(std::move(element));
    }
    /// Replaces an element by a copy that `edit(T&)` has changed, in this list only.
    /// \pre i < size()
    template <class Edit>
    void edit(std::size_t i, Edit&& edit) {
        T copy = *elements_[i];
        edit(copy);
        replace(i, std::move(copy));
    }
    /// The same for each element.
    template <class Edit>
    void edit_each(Edit&& edit) {
        for (std::size_t i = 0; i < size(); ++i) this->edit(i, edit);
    }
    /// Erases the elements after the first ones.
    void truncate(std::size_t count) { elements_.resize(std::min(count, elements_.size())); }
    /// Erases the elements that satisfy the predicate.
    template <class Predicate>
    void erase_if(Predicate&& predicate) {
        std::erase_if(elements_,
                      [&](const shared_pointer& element) { return predicate(*element); });
    }

    /// Compares the elements.
    friend bool operator==(const SharedList& a, const SharedList& b) {
        return std::equal(a.elements_.begin(), a.elements_.end(), b.elements_.begin(),
                          b.elements_.end(),
                          [](const auto& x, const auto& y) { return x == y || *x == *y; });
    }
    /// Compares the elements.
    friend std::strong_ordering operator<=>(const SharedList& a, const SharedList& b) {
        return std::lexicographical_compare_three_way(
            a.elements_.begin(), a.elements_.end(), b.elements_.begin(), b.elements_.end(),
            [](const auto& x, const auto& y) {
                return x == y ? std::strong_ordering::equal : *x <=> *y;
            });
    }

 private:
    template <class Iterator>
    void take(Iterator from, Iterator to) {
        elements_.reserve(static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from) push_back(*from);
    }

    std::vector<shared_pointer> elements_;
};

}  // namespace k8s_sd::inline v0
