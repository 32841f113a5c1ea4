#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A set of elements with keys, as a persistent hash trie. A copy is free and shares all nodes. A
/// change copies exactly the shared nodes on the path to its element, so a writer can modify its
/// copy of the readers' state.
///
/// Traits: `Element` with non-throwing copies and moves; `Key` with ==; `key(const Element&)`;
/// `hash(const Key&, unsigned round)` with 64 bits. The bits of the next round follow those of the
/// previous one, so hashes are unlimited and collisions need no treatment.
///
/// Threads: different threads may read, copy and destroy copies concurrently.
template <class Traits>
class Trie {
 public:
    using Element = typename Traits::Element;
    using Key = typename Traits::Key;
    // Copies are not checked: that of boost::intrusive_ptr never throws, but is not noexcept.
    static_assert(std::is_nothrow_move_constructible_v<Element>);
    static_assert(std::is_nothrow_move_assignable_v<Element>);

    Trie() = default;
    Trie(const Trie& other) noexcept : root_(shared(other.root_)) {}
    Trie(Trie&& other) noexcept : root_(std::exchange(other.root_, {})) {}
    Trie& operator=(Trie other) noexcept {
        std::swap(root_, other.root_);
        return *this;
    }
    ~Trie() { release(root_); }

    bool empty() const noexcept { return root_.used == 0; }

    /// \returns null if there is none
    const Element* find(const Key& key) const noexcept {
        Path path(key);
        for (const Branch* branch = &root_;; path.descend()) {
            const std::uint64_t bit = path.bit();
            if (!(branch->used & bit)) return nullptr;
            const Slot& slot = branch->at(bit);
            if (!(branch->inner & bit)) {
                return Traits::key(slot.element) == key ? &slot.element : nullptr;
            }
            branch = &slot.branch;
        }
    }

    /// Like find(), but unshares the element for modification; its key must not change.
    Element* edit(const Key& key) {
        if (!find(key)) return nullptr;
        Branch* branch = &root_;
        for (Path path(key);; path.descend()) {
            unshare(*branch);
            Slot& slot = branch->at(path.bit());
            if (!(branch->inner & path.bit())) return &slot.element;
            branch = &slot.branch;
        }
    }

    /// Inserts the element, or replaces the one with the same key.
    void put(Element element) {
        if (Element* known = edit(Traits::key(element))) {
            *known = std::move(element);
        } else {
            insert(std::move(element));
        }
    }
    /// \param element  its key must not be in the trie
    void insert(Element element) {
        const Key key = Traits::key(element);
        Branch* branch = &root_;
        for (Path path(key);; path.descend()) {
            if (!(branch->used & path.bit())) {
                return add(*branch, path.bit(), std::move(element));
            }
            unshare(*branch);
            if (!(branch->inner & path.bit())) push_down(*branch, path);
            branch = &branch->at(path.bit()).branch;
        }
    }

    /// Removes the element, if present.
    void remove(const Key& key) {
        if (find(key)) remove(root_, Path(key));
    }

    /// Visits the elements in unspecified order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        if (!empty()) for_each(root_, visit);
    }

    /// Any element; the trie must not be empty.
    const Element& any() const noexcept {
        const Branch* branch = &root_;
        while (branch->used == branch->inner) branch = &branch->slots()->branch;
        const std::uint64_t elements = branch->used & ~branch->inner;
        return branch->at(elements & -elements).element;
    }

 private:
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned digits_a_round = 64 / digit_bits;

    union Slot;
    /// Reference-counted; the slots follow in memory.
    struct Node {
        std::atomic<std::size_t> owners = 1;
    };
    /// A node with its bitmaps next to the pointer, outside the node: a lookup loads the slot
    /// directly, and never the counter written by a writer.
    struct Branch {
        std::uint64_t used = 0;   ///< digits with a slot
        std::uint64_t inner = 0;  ///< digits whose slot is a branch
        Node* node = nullptr;     ///< null: no slots

        Slot* slots() const noexcept { return reinterpret_cast<Slot*>(node + 1); }
        Slot& at(std::uint64_t bit) const noexcept {
            return slots()[std::popcount(used & (bit - 1))];
        }
        bool is_one_element() const noexcept { return !inner && std::has_single_bit(used); }
    };
    /// An element, or a branch with all elements with the same hash prefix.
    union Slot {
        Slot() noexcept {}   // Constructed and destroyed by code aware of the active member.
        ~Slot() noexcept {}  // NOLINT(modernize-use-equals-default)
        Element element;
        Branch branch;
    };
    static_assert(alignof(Element) <= alignof(Node) && alignof(Branch) <= alignof(Node));

    /// The sequence of digits of a key's hash.
    class Path {
     public:
        explicit Path(const Key& key) noexcept : key_(key), hash_(Traits::hash(key, 0)) {}
        /// The current digit, as a bit of a branch.
        std::uint64_t bit() const noexcept { return bit_of_digit(hash_); }
        void descend() noexcept {
            hash_ >>= digit_bits;
            if (++depth_ % digits_a_round == 0) hash_ = Traits::hash(key_, depth_ / digits_a_round);
        }
        /// The digit of another key at this depth.
        std::uint64_t bit_of(const Key& other) const noexcept {
            return bit_of_digit(Traits::hash(other, depth_ / digits_a_round) >>
                                (depth_ % digits_a_round * digit_bits));
        }

     private:
        static std::uint64_t bit_of_digit(std::uint64_t hash) noexcept {
            return std::uint64_t{1} << (hash & ((1U << digit_bits) - 1));
        }

        Key key_;
        std::uint64_t hash_;
        unsigned depth_ = 0;
    };

    static Branch make_branch(std::uint64_t used, std::uint64_t inner) {
        const auto slots = static_cast<std::size_t>(std::popcount(used));
        if (slots == 0) return {};
        return {used, inner, new (::operator new(sizeof(Node) + slots * sizeof(Slot))) Node};
    }
    static const Branch& shared(const Branch& branch) noexcept {
        if (branch.node) branch.node->owners.fetch_add(1, std::memory_order_relaxed);
        return branch;
    }
    /// A single owner also observes the end of all other owners' reads (acquire).
    static bool is_mine(const Branch& branch) noexcept {
        return branch.node->owners.load(std::memory_order_acquire) == 1;
    }
    static void release(const Branch& branch) noexcept {
        if (!branch.node || branch.node->owners.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        each_slot(branch, [](Slot& slot, bool inner) {
            if (inner) {
                release(slot.branch);
            } else {
                std::destroy_at(&slot.element);
            }
        });
        free(branch.node);
    }
    static void free(Node* node) noexcept {
        std::destroy_at(node);
        ::operator delete(node);
    }
    template <class Function>
    static void each_slot(const Branch& branch, Function&& function) {
        Slot* slot = branch.slots();
        for (std::uint64_t left = branch.used; left; left &= left - 1) {
            function(*slot++, (branch.inner & left & -left) != 0);
        }
    }
    template <class Visitor>
    static void for_each(const Branch& branch, Visitor& visit) {
        each_slot(branch, [&](const Slot& slot, bool inner) {
            if (inner) {
                for_each(slot.branch, visit);
            } else {
                visit(slot.element);
            }
        });
    }

    /// Moves or copies the slots of a branch into `to`, except that of `left_out`, and replaces the
    /// branch with `to`.
    static void hand_over(Branch& branch, const Branch& to, std::uint64_t left_out) noexcept {
        const bool mine = is_mine(branch);
        Slot* from = branch.slots();
        for (std::uint64_t left = branch.used; left; left &= left - 1, ++from) {
            const std::uint64_t bit = left & -left;
            if (branch.inner & bit) {
                std::construct_at(&to.at(bit).branch, mine ? from->branch : shared(from->branch));
            } else if (mine) {
                if (bit != left_out) {
                    std::construct_at(&to.at(bit).element, std::move(from->element));
                }
                std::destroy_at(&from->element);
            } else if (bit != left_out) {
                std::construct_at(&to.at(bit).element, std::as_const(from->element));
            }
        }
        const Branch old = std::exchange(branch, to);
        if (mine) {
            free(old.node);
        } else {
            release(old);
        }
    }
    static void unshare(Branch& branch) {
        if (!is_mine(branch)) hand_over(branch, make_branch(branch.used, branch.inner), 0);
    }
    static void add(Branch& branch, std::uint64_t bit, Element&& element) {
        const Branch larger = make_branch(branch.used | bit, branch.inner);
        std::construct_at(&larger.at(bit).element, std::move(element));
        if (!branch.node) {
            branch = larger;
        } else {
            hand_over(branch, larger, 0);
        }
    }
    /// Moves the conflicting element into a new branch of its own.
    static void push_down(Branch& branch, Path path) {
        const std::uint64_t bit = path.bit();
        Slot& slot = branch.at(bit);
        path.descend();
        const Branch lower = make_branch(path.bit_of(Traits::key(slot.element)), 0);
        std::construct_at(&lower.slots()->element, std::move(slot.element));
        std::destroy_at(&slot.element);
        std::construct_at(&slot.branch, lower);
        branch.inner |= bit;
    }
    /// Replaces a branch with a single element by that element.
    static void pull_up(Branch& branch, std::uint64_t bit) noexcept {
        Slot& slot = branch.at(bit);
        const Branch lower = slot.branch;
        std::construct_at(&slot.element, std::move(lower.slots()->element));
        branch.inner &= ~bit;
        release(lower);
    }
    static void remove(Branch& branch, Path path) {
        const std::uint64_t bit = path.bit();
        if (!(branch.inner & bit)) {
            return hand_over(branch, make_branch(branch.used & ~bit, branch.inner), bit);
        }
        unshare(branch);
        Branch& lower = branch.at(bit).branch;
        path.descend();
        remove(lower, path);
        if (lower.is_one_element()) pull_up(branch, bit);
    }

    Branch root_;
};

}  // namespace k8s_sd::inline v0::detail
