#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The end of a target in the blocks and in the text of all targets, which has their addresses. No
/// other target has its address: a block for it would take 48 bytes and a pointer.
struct TargetEnd {
    std::uint32_t blocks = 0;
    std::uint32_t address = 0;

    friend bool operator==(const TargetEnd&, const TargetEnd&) = default;
};

/// The end of a target in a group without much text, as nearly all groups are.
struct SmallTargetEnd {
    std::uint16_t blocks = 0;
    std::uint16_t address = 0;
};

/// Whether all ends fit into 16 bits: they grow, so the last one decides.
constexpr bool are_small_ends(TargetEnd last) noexcept {
    return std::max(last.blocks, last.address) <= std::numeric_limits<std::uint16_t>::max();
}
/// The bytes of ends in front of pointers.
template <class End>
constexpr std::size_t bytes_of_ends(std::size_t count) noexcept {
    constexpr std::size_t alignment = alignof(LabelBlockPtr);
    return (count * sizeof(End) + alignment - 1) / alignment * alignment;
}
/// \param memory       of bytes_of_ends() bytes
/// \param text_before  the size of the text in front of the addresses
template <class End>
void write_ends(void* memory, std::span<const TargetEnd> ends, std::uint32_t text_before) noexcept {
    using Number = decltype(End::blocks);
    auto* position = static_cast<End*>(memory);
    for (const TargetEnd& end : ends) {
        new (position++)
            End{static_cast<Number>(end.blocks), static_cast<Number>(end.address + text_before)};
    }
}

/// The labels of the target between two ends.
template <class End>
Labels labels_between(End begin, End end, const LabelBlockPtr* blocks,
                      const char* addresses) noexcept {
    return Access::make<Labels>(
        blocks + begin.blocks, blocks + end.blocks,
        std::string_view(addresses + begin.address,
                         static_cast<std::size_t>(end.address - begin.address)));
}

/// The targets of one endpoint among many; they change together. Immutable; the versions of a group
/// share unchanged parts. Regular targets come first, then extra ones.
class TargetPart final : public boost::intrusive_ref_counter<TargetPart> {
 public:
    /// \param blocks     of one target after the other; moved from
    /// \param ends       the end of each target
    /// \param addresses  of one target after the other
    /// \param regular    the number of regular targets
    static boost::intrusive_ptr<const TargetPart> make(std::span<LabelBlockPtr> blocks,
                                                       std::span<const TargetEnd> ends,
                                                       std::string_view addresses,
                                                       std::size_t regular) {
        const std::size_t bytes =
            sizeof(TargetPart) + blocks.size_bytes() + ends.size_bytes() + addresses.size();
        return new (::operator new(bytes)) TargetPart(blocks, ends, addresses, regular);
    }
    ~TargetPart() { std::destroy_n(blocks(), blocks_); }
    TargetPart(const TargetPart&) = delete;
    TargetPart& operator=(const TargetPart&) = delete;
    // The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

    std::size_t size() const noexcept { return targets_; }
    std::size_t regular() const noexcept { return regular_; }
    Labels operator[](std::size_t target) const noexcept {
        const TargetEnd begin = target == 0 ? TargetEnd{} : ends()[target - 1];
        return labels_between(begin, ends()[target], blocks(), addresses());
    }
    /// Whether make() would return an equal part.
    bool consists_of(std::span<const LabelBlockPtr> blocks, std::span<const TargetEnd> ends,
                     std::string_view addresses, std::size_t regular) const noexcept {
        return regular_ == regular && all_addresses() == addresses &&
               std::equal(ends.begin(), ends.end(), this->ends(), this->ends() + targets_) &&
               std::equal(blocks.begin(), blocks.end(), this->blocks(), this->blocks() + blocks_,
                          [](const auto& a, const auto& b) { return same(a, b); });
    }

 private:
    TargetPart(std::span<LabelBlockPtr> blocks, std::span<const TargetEnd> ends,
               std::string_view addresses, std::size_t regular) noexcept
        : targets_(static_cast<std::uint32_t>(ends.size())),
          regular_(static_cast<std::uint32_t>(regular)),
          blocks_(static_cast<std::uint32_t>(blocks.size())) {
        auto* block_memory = reinterpret_cast<LabelBlockPtr*>(this + 1);
        std::uninitialized_move(blocks.begin(), blocks.end(), block_memory);
        auto* end_memory = reinterpret_cast<TargetEnd*>(block_memory + blocks.size());
        std::uninitialized_copy(ends.begin(), ends.end(), end_memory);
        addresses.copy(reinterpret_cast<char*>(end_memory + ends.size()), addresses.size());
    }
    const LabelBlockPtr* blocks() const noexcept {
        return reinterpret_cast<const LabelBlockPtr*>(this + 1);
    }
    const TargetEnd* ends() const noexcept {
        return reinterpret_cast<const TargetEnd*>(blocks() + blocks_);
    }
    const char* addresses() const noexcept {
        return reinterpret_cast<const char*>(ends() + targets_);
    }
    std::string_view all_addresses() const noexcept {
        return {addresses(), targets_ == 0 ? 0 : ends()[targets_ - 1].address};
    }

    std::uint32_t targets_;
    std::uint32_t regular_;
    std::uint32_t blocks_;
};

static_assert(sizeof(TargetPart) % alignof(LabelBlockPtr) == 0);

using TargetPartPtr = boost::intrusive_ptr<const TargetPart>;

/// The position of a part's targets in its group. As many neighbouring parts as their stride
/// alternate: first the first target of each, then the second of each, and so on. They have the
/// same number of targets.
struct PlacedPart {
    TargetPartPtr part;        ///< null: no targets
    std::uint32_t first = 0;   ///< index of its first target
    std::uint32_t stride = 1;  ///< distance to its second target
};

}  // namespace k8s_sd::inline v0::detail
