#pragma once

#include "k8s_sd/detail/labels/label_block.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Collects the blocks of one object, until their sizes are known and their owner is allocated.
class BlockBatch {
 public:
    /// Keeps the memory for the next object, unless it is unusually large.
    void clear() noexcept {
        if (bytes_ > usual_bytes) *this = BlockBatch();
        blocks_.clear();
        packed_.clear();
        bytes_ = 0;
    }
    /// \returns the distance from the first block to this one, in bytes
    std::size_t add(LabelShapePtr shape, std::string_view packed) {
        const std::size_t distance = bytes_;
        blocks_.push_back({std::move(shape), packed.size()});
        packed_ += packed;
        bytes_ += LabelBlock::size_with(packed.size());
        return distance;
    }
    /// The bytes of all blocks.
    std::size_t bytes() const noexcept { return bytes_; }
    /// Makes the blocks in the owner's allocation, and clears the batch.
    /// \param memory  bytes() bytes behind the owner, aligned as a LabelBlock
    void make_in(void* memory, const BlockOwner& owner) noexcept {
        auto* position = static_cast<char*>(memory);
        const char* packed = packed_.data();
        for (Block& block : blocks_) {
            LabelBlock::make_in(position, owner, std::move(block.shape), {packed, block.size});
            position += LabelBlock::size_with(block.size);
            packed += block.size;
        }
        clear();
    }

 private:
    static constexpr std::size_t usual_bytes = 64 << 10;

    struct Block {
        LabelShapePtr shape;
        std::size_t size;  // of its values
    };

    std::vector<Block> blocks_;
    std::string packed_;  // the values of all blocks
    std::size_t bytes_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
