#pragma once

#include "k8s_sd/detail/labels/label_shape.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
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

/// An immutable, shared, contiguous piece of one or of many label sets. The names are in the shape,
/// the values after the header in the same allocation.
class LabelBlock final : public boost::intrusive_ref_counter<LabelBlock> {
 public:
    static boost::intrusive_ptr<const LabelBlock> make(LabelShapePtr shape,
                                                       std::string_view packed) {
        void* memory = ::operator new(sizeof(LabelBlock) + packed.size());
        auto* block = new (memory) LabelBlock(std::move(shape), packed.size());
        std::memcpy(static_cast<void*>(block + 1), packed.data(), packed.size());
        return block;
    }
    // The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

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
    LabelBlock(LabelShapePtr shape, std::size_t size) noexcept
        : size_(static_cast<std::uint32_t>(size)), shape_(std::move(shape)) {}

    std::uint32_t size_;
    LabelShapePtr shape_;
};

using LabelBlockPtr = boost::intrusive_ptr<const LabelBlock>;

/// Equal content; both may be null.
inline bool same(const LabelBlockPtr& a, const LabelBlockPtr& b) noexcept {
    return a == b || (a && b && *a == *b);
}

}  // namespace k8s_sd::inline v0::detail
