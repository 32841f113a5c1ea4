#pragma once

#include "k8s_sd/detail/labels/label_shape.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Appends a value after its length (LEB128, one byte below 128).
inline void pack_value(std::string& out, std::string_view value) {
    std::size_t length = value.size();
    for (; length >= 0x80U; length >>= 7U) out += static_cast<char>(0x80U | (length & 0x7FU));
    out += static_cast<char>(length);
    out += value;
}

inline std::string_view unpack_value(const char*& position) noexcept {
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7U) {
        const auto byte = static_cast<unsigned char>(*position++);
        length |= static_cast<std::size_t>(byte & 0x7FU) << shift;
        if (byte < 0x80U) break;
    }
    const std::string_view value(position, length);
    position += length;
    return value;
}

/// An allocation with label blocks in it, beside what the derived class has. A reference to one of
/// the blocks is a reference to the owner, so all of them have one count and one header of malloc.
class BlockOwner : public boost::intrusive_ref_counter<BlockOwner> {
 public:
    BlockOwner(const BlockOwner&) = delete;
    BlockOwner& operator=(const BlockOwner&) = delete;
    /// The derived class destroys its blocks.
    virtual ~BlockOwner() = default;

 protected:
    BlockOwner() = default;
};

/// An immutable, shared, contiguous piece of one or of many label sets. The names are in the shape,
/// the values after the header in the same allocation: its own one, or that of its owner.
class LabelBlock final {
 public:
    /// A block in an allocation of its own.
    static boost::intrusive_ptr<const LabelBlock> make(LabelShapePtr shape,
                                                       std::string_view packed) {
        void* memory = ::operator new(sizeof(LabelBlock) + packed.size());
        return new (memory) LabelBlock(std::move(shape), packed);
    }
    /// A block in the owner's allocation, which destroys it without releasing it.
    /// \param memory  size_with() bytes behind the owner, aligned as a LabelBlock
    static void make_in(void* memory, const BlockOwner& owner, LabelShapePtr shape,
                        std::string_view packed) noexcept {
        auto* const block = new (memory) LabelBlock(std::move(shape), packed);
        block->owned_ = true;
        block->to_owner_ = static_cast<std::uint32_t>(reinterpret_cast<const char*>(block) -
                                                      reinterpret_cast<const char*>(&owner));
    }
    /// The distance of a block with `packed` bytes of values to the next one of its owner.
    static constexpr std::size_t size_with(std::size_t packed) noexcept {
        constexpr std::size_t header = 2 * sizeof(std::uint32_t) + sizeof(LabelShapePtr);
        return (header + packed + alignof(LabelShapePtr) - 1) / alignof(LabelShapePtr) *
               alignof(LabelShapePtr);
    }
    LabelBlock(const LabelBlock&) = delete;
    LabelBlock& operator=(const LabelBlock&) = delete;
    // The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

    friend void intrusive_ptr_add_ref(const LabelBlock* block) noexcept {
        if (block->owned_) return intrusive_ptr_add_ref(block->owner());
        block->references_.fetch_add(1, std::memory_order_relaxed);
    }
    friend void intrusive_ptr_release(const LabelBlock* block) noexcept {
        if (block->owned_) return intrusive_ptr_release(block->owner());
        if (block->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
    }
    /// The number of references; for a block with an owner, those to the owner.
    std::uint32_t use_count() const noexcept {
        return owned_ ? owner()->use_count() : references_.load(std::memory_order_relaxed);
    }

    const LabelShape& shape() const noexcept { return *shape_; }
    std::string_view packed() const noexcept {
        return {reinterpret_cast<const char*>(this + 1), size_};
    }
    /// The value of the entry at `index` of the shape.
    std::string_view value(std::size_t index) const noexcept {
        const char* position = packed().data();
        while (index-- > 0) unpack_value(position);
        return unpack_value(position);
    }
    std::string_view only_value() const noexcept {
        assert(shape_->entries().size() == 1);
        return value(0);
    }

    friend bool operator==(const LabelBlock& a, const LabelBlock& b) noexcept {
        return &a == &b || (a.packed() == b.packed() && *a.shape_ == *b.shape_);
    }

 private:
    LabelBlock(LabelShapePtr shape, std::string_view packed) noexcept
        : references_(0),
          size_(static_cast<std::uint32_t>(packed.size()) & 0x7FFFFFFFU),
          owned_(false),
          shape_(std::move(shape)) {
        std::memcpy(static_cast<void*>(this + 1), packed.data(), packed.size());
    }
    const BlockOwner* owner() const noexcept {
        return reinterpret_cast<const BlockOwner*>(reinterpret_cast<const char*>(this) - to_owner_);
    }

    union {
        mutable std::atomic<std::uint32_t> references_;
        std::uint32_t to_owner_;  // bytes from the owner to this block, if there is one
    };
    std::uint32_t size_ : 31;
    std::uint32_t owned_ : 1;
    LabelShapePtr shape_;
};

static_assert(LabelBlock::size_with(0) == sizeof(LabelBlock));

using LabelBlockPtr = boost::intrusive_ptr<const LabelBlock>;

/// Equal content; both may be null.
inline bool same(const LabelBlockPtr& a, const LabelBlockPtr& b) noexcept {
    return a == b || (a && b && *a == *b);
}

}  // namespace k8s_sd::inline v0::detail
