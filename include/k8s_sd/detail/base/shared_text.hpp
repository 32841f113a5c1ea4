#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// An immutable text shared by its copies: a pointer each, and one allocation for all of them. For
/// names that several objects have, each of which exists thousands of times. Any thread may copy,
/// read and release them.
class SharedText {
 public:
    /// An empty text.
    SharedText() noexcept = default;
    explicit SharedText(std::string_view text) : block_(text.empty() ? nullptr : make(text)) {}

    bool empty() const noexcept { return !block_; }
    operator std::string_view() const noexcept {
        return block_ ? std::string_view(characters(block_.get()), block_->size)
                      : std::string_view();
    }

 private:
    /// In front of the characters.
    struct Block {
        explicit Block(std::uint32_t of) : size(of) {}

        const std::uint32_t size;
        mutable std::atomic<std::uint32_t> uses{0};
    };

    static const Block* make(std::string_view text) {
        void* const memory = ::operator new(sizeof(Block) + text.size());
        std::memcpy(static_cast<char*>(memory) + sizeof(Block), text.data(), text.size());
        return new (memory) Block(static_cast<std::uint32_t>(text.size()));
    }
    static const char* characters(const Block* block) noexcept {
        return reinterpret_cast<const char*>(block + 1);
    }
    friend void intrusive_ptr_add_ref(const Block* block) noexcept {
        block->uses.fetch_add(1, std::memory_order_relaxed);
    }
    friend void intrusive_ptr_release(const Block* block) noexcept {
        if (block->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        block->~Block();
        ::operator delete(const_cast<Block*>(block));
    }

    boost::intrusive_ptr<const Block> block_;  ///< null: empty
};

}  // namespace k8s_sd::inline v0::detail
