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

/// A set of elements with keys, as a hash trie. A copy costs nothing and shares all nodes. A change
/// copies the nodes on the way to its element that somebody shares, and no others: so a writer
/// changes its copy of what others read.
///
/// Traits: `Element`, whose copies and moves do not throw; `Key`, with ==; `key(const Element&)`;
/// `hash(const Key&, unsigned round)`, 64 bits. Where the bits of one round are used up, those of
/// the next one follow, so there is no end of them and nothing to do about collisions.
///
/// Threads: copies may be read, copied and dropped by different threads at a time.
template <class Traits>
class Trie {
 public:
    using Element = typename Traits::Element;
    using Key = typename Traits::Key;
    // Not of copies: that of boost::intrusive_ptr does not throw, but does not say so.
    static_assert(std::is_nothrow_move_constructible_v<Element>);
    static_assert(std::is_nothrow_move_assignable_v<Element>);

    Trie() = default;
    Trie(const Trie& other) noexcept : root_(shared(other.root_)) {}
    Trie(Trie&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
    Trie& operator=(Trie other) noexcept {
        std::swap(root_, other.root_);
        return *this;
    }
    ~Trie() { release(root_); }

    bool empty() const noexcept { return root_ == nullptr; }

    /// Null: there is none.
    const Element* find(const Key& key) const noexcept {
        Path path(key);
        for (const Node* node = root_; node; path.descend()) {
            const std::uint64_t bit = path.bit();
            if (!(node->used & bit)) return nullptr;
            const Slot& slot = node->at(bit);
            if (!(node->inner & bit)) {
                return Traits::key(slot.element) == key ? &slot.element : nullptr;
            }
            node = slot.node;
        }
        return nullptr;
    }

    /// As find(), of an element that nobody shares from now on; its key must remain.
    Element* edit(const Key& key) {
        if (!find(key)) return nullptr;
        Node** link = &root_;
        for (Path path(key);; path.descend()) {
            unshare(*link);
            Slot& slot = (*link)->at(path.bit());
            if (!((*link)->inner & path.bit())) return &slot.element;
            link = &slot.node;
        }
    }

    /// Takes the place of the one with the same key, if there is one.
    void put(Element element) {
        if (Element* known = edit(Traits::key(element))) {
            *known = std::move(element);
        } else {
            insert(std::move(element));
        }
    }
    /// \param element  its key is not in the trie
    void insert(Element element) {
        const Key key = Traits::key(element);
        if (!root_) root_ = make_node(0, 0);
        Node** link = &root_;
        for (Path path(key);; path.descend()) {
            if (!((*link)->used & path.bit())) return add(*link, path.bit(), std::move(element));
            unshare(*link);
            Slot& slot = (*link)->at(path.bit());
            if (!((*link)->inner & path.bit())) push_down(**link, path);
            link = &slot.node;
        }
    }

    /// Takes an element away, if there is one.
    void remove(const Key& key) {
        if (!find(key)) return;
        erase(root_, Path(key));
        if (!root_->used) release(std::exchange(root_, nullptr));
    }

    /// In no particular order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        if (root_) for_each(*root_, visit);
    }

    /// Any of the elements; there is one.
    const Element& any() const noexcept {
        const Node* node = root_;
        while (!(node->used & ~node->inner)) node = node->slots()->node;
        return node->at(node->used & ~node->inner & -(node->used & ~node->inner)).element;
    }

    /// What the nodes take, without the allocator's share; takes as long as for_each().
    std::size_t bytes() const noexcept { return root_ ? bytes(*root_) : 0; }

 private:
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned digits_a_round = 64 / digit_bits;

    struct Node;
    /// An element, or the node that has those whose hashes begin alike.
    union Slot {
        Slot() noexcept {}   // Made and destroyed by the node, which knows what it is.
        ~Slot() noexcept {}  // NOLINT(modernize-use-equals-default)
        Element element;
        Node* node;
    };
    /// Followed by a slot for each bit of `used`.
    struct Node {
        std::uint64_t used;   ///< digits that have a slot
        std::uint64_t inner;  ///< those of them whose slot is a node
        std::atomic<std::uint32_t> owners = 1;

        Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
        const Slot* slots() const noexcept { return reinterpret_cast<const Slot*>(this + 1); }
        std::size_t size() const noexcept { return static_cast<std::size_t>(std::popcount(used)); }
        std::size_t place(std::uint64_t bit) const noexcept {
            return static_cast<std::size_t>(std::popcount(used & (bit - 1)));
        }
        Slot& at(std::uint64_t bit) noexcept { return slots()[place(bit)]; }
        const Slot& at(std::uint64_t bit) const noexcept { return slots()[place(bit)]; }
        bool is_one_element() const noexcept { return !inner && std::has_single_bit(used); }
    };
    static_assert(alignof(Slot) <= alignof(Node) && sizeof(Node) % alignof(Slot) == 0);

    /// The digits of a key's hash, one after the other.
    class Path {
     public:
        explicit Path(const Key& key) noexcept : key_(key), hash_(Traits::hash(key, 0)) {}
        /// The present digit, as a bit of a node.
        std::uint64_t bit() const noexcept {
            return std::uint64_t{1} << (hash_ & ((1U << digit_bits) - 1));
        }
        void descend() noexcept {
            hash_ >>= digit_bits;
            if (++depth_ % digits_a_round == 0) hash_ = Traits::hash(key_, depth_ / digits_a_round);
        }
        /// The digit of another key at this depth.
        std::uint64_t bit_of(const Key& other) const noexcept {
            const std::uint64_t hash = Traits::hash(other, depth_ / digits_a_round) >>
                                       (depth_ % digits_a_round * digit_bits);
            return std::uint64_t{1} << (hash & ((1U << digit_bits) - 1));
        }

     private:
        Key key_;
        std::uint64_t hash_;
        unsigned depth_ = 0;
    };

    static Node* make_node(std::uint64_t used, std::uint64_t inner) {
        const auto slots = static_cast<std::size_t>(std::popcount(used));
        return new (::operator new(sizeof(Node) + slots * sizeof(Slot))) Node{used, inner};
    }
    static Node* shared(Node* node) noexcept {
        if (node) node->owners.fetch_add(1, std::memory_order_relaxed);
        return node;
    }
    /// Who sees that he is the last owner also sees that the others have stopped reading.
    static bool is_mine(const Node& node) noexcept {
        return node.owners.load(std::memory_order_acquire) == 1;
    }
    static void release(Node* node) noexcept {
        if (!node || node->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        each_slot(*node, [](Slot& slot, bool inner) {
            if (inner) {
                release(slot.node);
            } else {
                std::destroy_at(&slot.element);
            }
        });
        free(node);
    }
    static void free(Node* node) noexcept {
        std::destroy_at(node);
        ::operator delete(node);
    }
    template <class SomeNode, class Function>
    static void each_slot(SomeNode& node, Function&& function) {
        auto* slot = node.slots();
        for (std::uint64_t left = node.used; left; left &= left - 1) {
            function(*slot++, (node.inner & left & -left) != 0);
        }
    }
    template <class Visitor>
    static void for_each(const Node& node, Visitor& visit) {
        each_slot(node, [&](const Slot& slot, bool inner) {
            if (inner) {
                for_each(*slot.node, visit);
            } else {
                visit(slot.element);
            }
        });
    }
    static std::size_t bytes(const Node& node) noexcept {
        std::size_t sum = sizeof(Node) + node.size() * sizeof(Slot);
        each_slot(node,
                  [&](const Slot& slot, bool inner) { sum += inner ? bytes(*slot.node) : 0; });
        return sum;
    }

    /// Puts the slots of a node into `to`, where those of `left_out` have no place, and gives the
    /// node up.
    static void hand_over(Node*& node, Node* to, std::uint64_t left_out) noexcept {
        const bool mine = is_mine(*node);
        Slot* from = node->slots();
        for (std::uint64_t left = node->used; left; left &= left - 1, ++from) {
            const std::uint64_t bit = left & -left;
            if (bit & left_out) {
                if (mine) std::destroy_at(&from->element);
                continue;
            }
            Slot& target = to->at(bit);
            if (node->inner & bit) {
                target.node = mine ? from->node : shared(from->node);
            } else if (mine) {
                std::construct_at(&target.element, std::move(from->element));
                std::destroy_at(&from->element);
            } else {
                std::construct_at(&target.element, std::as_const(from->element));
            }
        }
        Node* const old = std::exchange(node, to);
        if (mine) {
            free(old);
        } else {
            release(old);
        }
    }
    static void unshare(Node*& node) {
        if (!is_mine(*node)) hand_over(node, make_node(node->used, node->inner), 0);
    }
    static void add(Node*& node, std::uint64_t bit, Element&& element) {
        Node* const larger = make_node(node->used | bit, node->inner);
        std::construct_at(&larger->at(bit).element, std::move(element));
        hand_over(node, larger, 0);
    }
    static void take_away(Node*& node, std::uint64_t bit) {
        hand_over(node, make_node(node->used & ~bit, node->inner), bit);
    }
    /// The element that is in the way of another one gets a node of its own.
    static void push_down(Node& node, Path path) {
        const std::uint64_t bit = path.bit();
        Element& element = node.at(bit).element;
        path.descend();
        const std::uint64_t below = path.bit_of(Traits::key(element));
        Node* const lower = make_node(below, 0);
        std::construct_at(&lower->slots()->element, std::move(element));
        std::destroy_at(&element);
        node.at(bit).node = lower;
        node.inner |= bit;
    }
    /// A node that has but one element left gives it to the node above.
    static void pull_up(Node& node, std::uint64_t bit) noexcept {
        Slot& slot = node.at(bit);
        Node* const lower = slot.node;
        std::construct_at(&slot.element, std::move(lower->slots()->element));
        node.inner &= ~bit;
        release(lower);
    }
    static void erase(Node*& node, Path path) {
        const std::uint64_t bit = path.bit();
        if (!(node->inner & bit)) return take_away(node, bit);
        unshare(node);
        Slot& slot = node->at(bit);
        path.descend();
        erase(slot.node, path);
        if (slot.node->is_one_element()) pull_up(*node, bit);
    }

    Node* root_ = nullptr;
};

}  // namespace k8s_sd::inline v0::detail
