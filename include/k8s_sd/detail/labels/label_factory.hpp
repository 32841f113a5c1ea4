#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/labels/block_batch.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Whether something beside the cache refers to the value.
template <class Pointer>
bool is_in_use(const Pointer& value) noexcept {
    return value->use_count() > 1;
}

/// Caches recent values by hash, so that equal ones are usually made once. Four values have room at
/// each position of the table; another one evicts the one used the longest time ago. The number of
/// slots is bounded: sharing is likely, not certain. The cache grows with the values in use,
/// because many groups are small. After many insertions it drops the values that nothing else
/// refers to: a small cluster would fill it with the annotations of deleted pods.
///
/// With one value at each position, two of the five shapes of all pods evicted each other in one of
/// forty processes, because their hashes depend on the addresses of literals. They were made again
/// for each pod, which took twice the memory.
template <class Pointer>
class RecentCache {
 public:
    explicit RecentCache(std::size_t max_slots) : max_slots_(max_slots) {}

    template <class Equal, class Make>
    Pointer get(std::size_t hash, Equal equal, Make make) {
        if (slots_.empty()) slots_.resize(first_slots);
        Slot* const ways = ways_of(hash);
        for (std::size_t i = 0; i < way_count; ++i) {
            const Slot& slot = ways[i];
            if (!slot.value || slot.hash != hash || !equal(*slot.value)) continue;
            std::rotate(ways, ways + i, ways + i + 1);
            return ways->value;
        }
        Pointer made = make();
        std::rotate(ways, ways + way_count - 1, ways + way_count);
        if (ways->value && is_in_use(ways->value)) ++displaced_;
        *ways = {hash, made};
        if (++insertions_ > slots_.size() / 2) renew();
        return made;
    }

 private:
    struct Slot {
        std::size_t hash = 0;
        Pointer value;
    };
    static constexpr std::size_t way_count = 4;
    static constexpr std::size_t first_slots = 64;

    /// The slots for values of this hash, the most recently used one first.
    Slot* ways_of(std::size_t hash) noexcept {
        return &slots_[(hash & (slots_.size() / way_count - 1)) * way_count];
    }
    /// Drops unused values, and grows if the others lack room.
    void renew() {
        std::size_t used = 0;
        for (Slot& slot : slots_) {
            if (!slot.value) continue;
            is_in_use(slot.value) ? static_cast<void>(++used) : slot.value.reset();
        }
        insertions_ = 0;
        const std::size_t displaced = std::exchange(displaced_, 0);
        const bool lacks_room = used > slots_.size() / 2 || displaced > slots_.size() / 4;
        if (lacks_room && slots_.size() < max_slots_) grow();
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (Slot& slot : old) {
            if (!slot.value) continue;
            Slot* free = ways_of(slot.hash);
            while (free->value) ++free;
            *free = std::move(slot);
        }
    }

    std::size_t max_slots_;
    std::size_t insertions_ = 0, displaced_ = 0;  // since the latest renewal; displaced: in use
    std::vector<Slot> slots_;
};

using KeyValues = std::vector<std::pair<std::string_view, std::string_view>>;

/// The labels of one object, or of one target group, exceed LabelFactory::max_bytes.
class LabelLimitReached : public std::length_error {
 public:
    LabelLimitReached() : std::length_error("its labels take more than 64 MiB") {}
};

/// Makes label blocks and shares equal shapes and blocks. Used on one strand.
class LabelFactory {
 public:
    /// The limit of the new blocks and the entries of one object, or of the blocks of one target
    /// group: a small object may repeat a long text in each of very many ports.
    static constexpr std::size_t max_bytes = std::size_t{64} << 20;

    /// Collects labels for one block; only one builder may be in use at a time.
    class BlockBuilder {
     public:
        BlockBuilder& add(LiteralName name, std::string_view value) {
            factory_.names_.push_back(name.text);
            pack_value(factory_.packed_, value);
            return *this;
        }
        /// For a label found by its position in the block.
        BlockBuilder& add_at(std::size_t position, LiteralName name, std::string_view value) {
            assert(position == factory_.names_.size());
            static_cast<void>(position);
            return add(name, value);
        }
        BlockBuilder& add_if(LiteralName name, std::string_view value) {
            return value.empty() ? *this : add(name, value);
        }
        /// For values unique to one object. Null if nothing was added.
        LabelBlockPtr make() {
            if (factory_.names_.empty()) return nullptr;
            return factory_.new_block(factory_.literal_shape());
        }
        /// For values unique to one object whose blocks have an owner.
        /// \returns see BlockBatch::add()
        std::size_t add_to(BlockBatch& batch) {
            factory_.use_room(LabelBlock::size_with(factory_.packed_.size()));
            return batch.add(factory_.literal_shape(), factory_.packed_);
        }
        /// For values repeated across objects or targets.
        LabelBlockPtr make_shared() {
            if (factory_.names_.empty()) return nullptr;
            return factory_.shared_block(factory_.literal_shape());
        }

     private:
        friend class LabelFactory;
        explicit BlockBuilder(LabelFactory& factory) : factory_(factory) {
            factory_.names_.clear();
            factory_.packed_.clear();
        }
        LabelFactory& factory_;
    };

    /// Begins the labels of an object or of a target group: it may use max_bytes for new blocks and
    /// counted entries. Beyond them, count() and each function that makes a block throw
    /// LabelLimitReached.
    void begin_object() noexcept { room_ = max_bytes; }
    /// Counts an entry of the object, such as a port, beside its blocks: of an entry of three bytes
    /// in the object the shared block costs nothing. \throws LabelLimitReached
    template <class Entry>
    void count_entry() {
        use_room(sizeof(Entry));
    }

    BlockBuilder block() { return BlockBuilder(*this); }
    /// An empty batch, for the blocks of one object. Its memory is kept for the next one.
    BlockBatch& batch() noexcept {
        batch_.clear();
        return batch_;
    }

    /// Labels made from a map; null if it is empty. As in Kubernetes' decoders, the last value of a
    /// repeated key counts.
    LabelBlockPtr family(FamilyName family, const KeyValues& pairs) {
        if (pairs.empty()) return nullptr;
        packed_.clear();
        return shared_block(pack_family(family, pairs));
    }

    /// A label and two families in one block, which takes one pointer in each group of their many
    /// users. For values unique to one object; see family().
    LabelBlockPtr with_families(LiteralName name, std::string_view value, FamilyName first,
                                const KeyValues& firsts, FamilyName second,
                                const KeyValues& seconds) {
        names_.assign({name.text});
        packed_.clear();
        pack_value(packed_, value);
        JoinedShapes shapes{literal_shape()};
        if (!firsts.empty()) shapes[1] = pack_family(first, firsts);
        if (!seconds.empty()) shapes[2] = pack_family(second, seconds);
        return shared_block(joined_shape(shapes));
    }

    /// The labels of `block` with names that `others` lacks; null if there are none.
    LabelBlockPtr without(const LabelBlock& block, const Labels& others) {
        boost::unordered_flat_set<std::string_view, SeededHash> taken;
        for (const auto [name, value] : others) taken.insert(name);
        std::vector<LabelShape::ShapeEntry> kept;
        packed_.clear();
        const char* position = block.packed().data();
        for (const LabelShape::ShapeEntry& entry : block.shape().entries()) {
            const std::string_view value = unpack_value(position);
            if (entry.name.empty() || taken.contains(entry.name)) continue;
            kept.push_back(entry);
            pack_value(packed_, value);
        }
        if (kept.empty()) return nullptr;
        // The shape is as new as the block.
        for (const auto& entry : kept) use_room(entry.name.size() + entry.present.size());
        return new_block(new LabelShape(LabelShape::OwnEntries{kept}));
    }

    /// A copy of `block` with one value replaced; `index` counts the entries of its shape.
    LabelBlockPtr with_value(const LabelBlock& block, std::size_t index, std::string_view value) {
        packed_.clear();
        const char* position = block.packed().data();
        for (std::size_t i = 0; i < block.shape().entries().size(); ++i) {
            const std::string_view old = unpack_value(position);
            pack_value(packed_, i == index ? value : old);
        }
        return shared_block(LabelShapePtr(&block.shape()));
    }

 protected:
    // Larger blocks hardly repeat, and the caches must not retain much memory.
    static constexpr std::size_t largest_shared = 1024;
    static constexpr std::size_t largest_joined = 16 * largest_shared;  // bytes of names

 private:
    struct FamilyShape : boost::intrusive_ref_counter<FamilyShape, boost::thread_unsafe_counter> {
        const char* prefix;
        std::string raw_keys;
        LabelShapePtr shape;

        friend bool is_in_use(const boost::intrusive_ptr<FamilyShape>& made) noexcept {
            return is_in_use(made->shape);
        }
    };

    using JoinedShapes = std::array<LabelShapePtr, 3>;  // null: none
    struct JoinedShape : boost::intrusive_ref_counter<JoinedShape, boost::thread_unsafe_counter> {
        JoinedShapes of;
        LabelShapePtr shape;

        friend bool is_in_use(const boost::intrusive_ptr<JoinedShape>& made) noexcept {
            return is_in_use(made->shape);
        }
    };

    /// Usual, because API servers sort keys.
    static bool is_sorted_unique(const KeyValues& pairs) {
        const auto unsorted = [](const auto& a, const auto& b) { return a.first >= b.first; };
        return std::adjacent_find(pairs.begin(), pairs.end(), unsorted) == pairs.end();
    }
    static KeyValues sorted_unique(KeyValues pairs) {
        const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(pairs.begin(), pairs.end(), by_key);
        const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
        const auto rest = std::unique(pairs.rbegin(), pairs.rend(), same_key);
        pairs.erase(pairs.begin(), rest.base());
        return pairs;
    }

    /// Appends the values to packed_.
    LabelShapePtr pack_family(FamilyName family, const KeyValues& pairs) {
        if (is_sorted_unique(pairs)) return pack_sorted_family(family, pairs);
        return pack_sorted_family(family, sorted_unique(pairs));
    }
    LabelShapePtr pack_sorted_family(FamilyName family, const KeyValues& pairs) {
        names_.clear();
        raw_keys_.clear();
        for (const auto& [key, value] : pairs) {
            names_.push_back(key);
            pack_value(raw_keys_, key);
        }
        LabelShapePtr shape = family_shape(family);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            // A value without a name is not a label, so it must not make two blocks differ.
            const bool hidden = shape->entries()[i].name.empty();
            pack_value(packed_, hidden ? std::string_view() : pairs[i].second);
        }
        return shape;
    }

    LabelShapePtr joined_shape(const JoinedShapes& shapes) {
        std::size_t hash = 0, names = 0;
        bool is_found_again = true;
        for (const LabelShapePtr& shape : shapes) {
            hash = mix64(hash ^ reinterpret_cast<std::uintptr_t>(shape.get()));
            if (!shape) continue;
            names += shape->text_size();
            // Families with many names are not cached, so this one is made for each object.
            if (shape->use_count() == 1) is_found_again = false;
        }
        const auto make = [&] {
            std::vector<LabelShape::ShapeEntry> entries;
            for (const LabelShapePtr& shape : shapes) {
                if (!shape) continue;
                const auto more = shape->entries();
                entries.insert(entries.end(), more.begin(), more.end());
            }
            return LabelShapePtr(new LabelShape(LabelShape::OwnEntries{entries}));
        };
        if (names > largest_joined || !is_found_again) return make();
        const auto equal = [&](const JoinedShape& made) { return made.of == shapes; };
        const auto make_cached = [&] {
            boost::intrusive_ptr<JoinedShape> made(new JoinedShape);
            made->of = shapes;
            made->shape = make();
            return made;
        };
        return joined_shapes_.get(hash, equal, make_cached)->shape;
    }

    LabelShapePtr literal_shape() {
        std::size_t hash = names_.size();
        for (const std::string_view name : names_) {
            hash = (hash ^ reinterpret_cast<std::uintptr_t>(name.data())) * 0x9E3779B97F4A7C15U;
        }
        hash ^= hash >> 32U;
        const auto equal = [this](const LabelShape& shape) {
            return std::equal(names_.begin(), names_.end(), shape.entries().begin(),
                              shape.entries().end(),
                              [](std::string_view a, const auto& b) { return a == b.name; });
        };
        return literal_shapes_.get(hash, equal,
                                   [this] { return LabelShapePtr(new LabelShape(names_)); });
    }

    LabelShapePtr family_shape(FamilyName family) {
        if (raw_keys_.size() > largest_shared) return new LabelShape(family, names_);
        const char* prefix = family.prefix.text.data();
        const std::size_t hash = std::hash<std::string_view>{}(raw_keys_) ^
                                 reinterpret_cast<std::uintptr_t>(prefix) * 0x9E3779B97F4A7C15U;
        const auto equal = [&](const FamilyShape& made) {
            return made.prefix == prefix && made.raw_keys == raw_keys_;
        };
        return family_shapes_
            .get(hash, equal,
                 [&] {
                     boost::intrusive_ptr<FamilyShape> made(new FamilyShape);
                     made->prefix = prefix;
                     made->raw_keys = raw_keys_;
                     made->shape = new LabelShape(family, names_);
                     return made;
                 })
            ->shape;
    }

    void use_room(std::size_t bytes) {
        if (bytes > room_) throw LabelLimitReached();
        room_ -= bytes;
    }
    LabelBlockPtr new_block(LabelShapePtr shape) {
        use_room(LabelBlock::size_with(packed_.size()));
        return LabelBlock::make(std::move(shape), packed_);
    }

    LabelBlockPtr shared_block(LabelShapePtr shape) {
        if (packed_.size() > largest_shared) return new_block(std::move(shape));
        const std::size_t hash =
            std::hash<std::string_view>{}(packed_) ^ reinterpret_cast<std::uintptr_t>(shape.get());
        const auto equal = [&](const LabelBlock& block) {
            return &block.shape() == shape.get() && block.packed() == packed_;
        };
        return blocks_.get(hash, equal, [&] { return new_block(shape); });
    }

    std::vector<std::string_view> names_;
    std::string packed_;
    std::string raw_keys_;
    BlockBatch batch_;
    std::size_t room_ = max_bytes;  // of the present object or group
    RecentCache<LabelShapePtr> literal_shapes_{256};
    RecentCache<boost::intrusive_ptr<FamilyShape>> family_shapes_{1024};
    RecentCache<boost::intrusive_ptr<JoinedShape>> joined_shapes_{256};
    RecentCache<LabelBlockPtr> blocks_{16384};
};

}  // namespace k8s_sd::inline v0::detail
