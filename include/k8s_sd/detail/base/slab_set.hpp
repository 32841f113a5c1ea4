#pragma once

#include "k8s_sd/detail/base/split_set.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define K8S_SD_POISONS_FREE_SLOTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define K8S_SD_POISONS_FREE_SLOTS 1
#endif
#endif
#ifdef K8S_SD_POISONS_FREE_SLOTS
#include <sanitizer/asan_interface.h>
#endif

namespace k8s_sd::inline v0::detail {

/// Elements with numbers and fixed addresses, 32 in an allocation: each has neither a header of
/// malloc nor the rounding of its size, and a number takes half of a pointer. The memory of an
/// erased element is for the next one; that of all elements is freed when none is left.
template <class T>
class Slab {
 public:
    using Number = std::uint32_t;

    Slab() = default;
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    /// The owner must have erased all elements.
    ~Slab() { assert(size_ == 0); }

    template <class... Arguments>
    Number emplace(Arguments&&... arguments) {
        static_assert(std::is_nothrow_constructible_v<T, Arguments...>);
        if (free_ == none) add_chunk();
        const Number number = free_;
        Slot& slot = slot_of(number);
        set_poisoned(slot, false);
        const Number next = slot.next_free;
        std::construct_at(&slot.element, std::forward<Arguments>(arguments)...);
        free_ = next;
        ++size_;
        return number;
    }
    void erase(Number number) noexcept {
        Slot& slot = slot_of(number);
        std::destroy_at(&slot.element);
        release(number);
        if (--size_ > 0) return;
        chunks_ = std::vector<std::unique_ptr<Chunk>>();
        free_ = none;
    }
    T& operator[](Number number) const noexcept { return slot_of(number).element; }

 private:
    static constexpr Number chunk_size = 32;
    static constexpr Number none = std::numeric_limits<Number>::max();

    union Slot {
        Slot() noexcept : next_free(none) {}
        ~Slot() {}

        T element;
        Number next_free;  // none: the last one
    };
    using Chunk = std::array<Slot, chunk_size>;

    /// AddressSanitizer reports accesses to erased elements then.
    static void set_poisoned([[maybe_unused]] Slot& slot, [[maybe_unused]] bool poisoned) noexcept {
#ifdef K8S_SD_POISONS_FREE_SLOTS
        poisoned ? __asan_poison_memory_region(&slot, sizeof slot)
                 : __asan_unpoison_memory_region(&slot, sizeof slot);
#endif
    }
    Slot& slot_of(Number number) const noexcept {
        return (*chunks_[number / chunk_size])[number % chunk_size];
    }
    void release(Number number) noexcept {
        Slot& slot = slot_of(number);
        slot.next_free = free_;
        free_ = number;
        set_poisoned(slot, true);
    }
    void add_chunk() {
        if (chunks_.size() >= none / chunk_size) throw std::length_error("a slab is full");
        const auto begin = static_cast<Number>(chunks_.size() * chunk_size);
        chunks_.push_back(std::make_unique<Chunk>());
        for (Number i = chunk_size; i-- > 0;) release(begin + i);
    }

    std::vector<std::unique_ptr<Chunk>> chunks_;
    Number free_ = none;  // the first free slot
    std::size_t size_ = 0;
};

/// A SplitSet of very many small elements with fixed addresses, in a Slab.
/// \tparam Hash, Equal  of elements and of keys; without state
template <class T, class Hash, class Equal>
class SlabSet {
    using Number = typename Slab<T>::Number;

    struct NumberHash {
        using is_transparent = void;
        std::size_t operator()(Number number) const noexcept { return Hash{}((*slab)[number]); }
        template <class Key>
        std::size_t operator()(const Key& key) const noexcept {
            return Hash{}(key);
        }
        const Slab<T>* slab;
    };
    struct NumberEqual {
        using is_transparent = void;
        bool operator()(Number a, Number b) const noexcept { return a == b; }
        template <class Key>
        bool operator()(const Key& key, Number number) const noexcept {
            return Equal{}(key, (*slab)[number]);
        }
        template <class Key>
        bool operator()(Number number, const Key& key) const noexcept {
            return Equal{}(key, (*slab)[number]);
        }
        const Slab<T>* slab;
    };

 public:
    SlabSet() : numbers_({&slab_}, {&slab_}) {}
    SlabSet(const SlabSet&) = delete;
    SlabSet& operator=(const SlabSet&) = delete;
    ~SlabSet() {
        numbers_.for_each([this](Number number) { slab_.erase(number); });
    }

    /// Null: no such element.
    template <class Key>
    T* find(const Key& key) const {
        const Number* const number = numbers_.find(key);
        return number ? &slab_[*number] : nullptr;
    }
    /// The set must not contain an equal element.
    template <class... Arguments>
    T& emplace(Arguments&&... arguments) {
        const Number number = slab_.emplace(std::forward<Arguments>(arguments)...);
        try {
            numbers_.insert(number);
        } catch (...) {
            slab_.erase(number);
            throw;
        }
        return slab_[number];
    }
    template <class Key>
    void erase(const Key& key) {
        const Number* const found = numbers_.find(key);
        if (!found) return;
        const Number number = *found;
        numbers_.erase(key);
        slab_.erase(number);
    }
    /// Calls `visit(T&)` for each element, in no particular order.
    template <class Visit>
    void for_each(Visit visit) const {
        numbers_.for_each([&](Number number) { visit(slab_[number]); });
    }
    std::size_t size() const noexcept { return numbers_.size(); }

 private:
    Slab<T> slab_;
    SplitSet<Number, NumberHash, NumberEqual> numbers_;
};

}  // namespace k8s_sd::inline v0::detail
