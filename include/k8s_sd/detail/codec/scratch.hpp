#pragma once

#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/objects/model/document.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Copies of strings, at stable addresses until the next reset(), which wipes them. The first chunk
/// is reused, so that ordinary objects cost no allocation.
class TextArena {
 public:
    std::string_view copy(std::string_view text) {
        char* const to = room(text.size());
        text.copy(to, text.size());
        return {to, text.size()};
    }
    /// Allocates at most `size` bytes for a text.
    char* room(std::size_t size) {
        if (size > left_) grow(size);
        char* const start = next_;
        next_ += size;
        left_ -= size;
        size_ += size;
        return start;
    }
    /// Bytes given out since the last reset.
    std::size_t size() const noexcept { return size_; }
    void reset() {
        size_ = 0;
        if (chunks_.empty()) return;
        CleansedBytes& first = chunks_.front();
        const bool filled = chunks_.size() > 1;
        cleanse(first.data(), filled ? first.size() : first.size() - left_);
        chunks_.resize(1);
        next_ = first.data();
        left_ = first.size();
    }
    /// Resets and frees the memory.
    void release() {
        chunks_.clear();
        next_ = nullptr;
        left_ = size_ = 0;
    }

 private:
    static constexpr std::size_t chunk_size = 16 * 1024;

    void grow(std::size_t need) {
        // The first chunk always has the common size, because it is reused.
        if (chunks_.empty()) add_chunk(chunk_size);
        if (need > left_) add_chunk(std::max(need, chunk_size));
    }
    void add_chunk(std::size_t size) {
        chunks_.emplace_back(size);
        next_ = chunks_.back().data();
        left_ = size;
    }

    std::vector<CleansedBytes> chunks_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
    std::size_t size_ = 0;
};

/// Memory for one decoded object of a kind. Reused for every object.
class Scratch {
 public:
    virtual ~Scratch() = default;
    /// The destination of decoders: a KindTraits<kind>::Model.
    virtual void* model() noexcept = 0;
    virtual const api::ObjectMeta& meta() const noexcept = 0;
    virtual const model::DocumentHead& head() const noexcept = 0;
    virtual void clear() = 0;
};

}  // namespace k8s_sd::inline v0::detail
