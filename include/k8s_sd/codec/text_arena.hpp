#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {

/// Keeps strings at stable addresses until the next reset(). Its first chunk is reused, so that
/// ordinary objects cost no allocation.
class TextArena {
 public:
    std::string_view keep(std::string_view text) {
        if (text.size() > left_) grow(text.size());
        char* to = next_;
        text.copy(to, text.size());
        next_ += text.size();
        left_ -= text.size();
        size_ += text.size();
        return {to, text.size()};
    }
    /// Bytes kept since the last reset.
    std::size_t size() const noexcept { return size_; }
    void reset() {
        if (chunks_.size() > 1) chunks_.resize(1);
        next_ = chunks_.empty() ? nullptr : chunks_.front().get();
        left_ = chunks_.empty() ? 0 : chunk_size;
        size_ = 0;
    }

 private:
    static constexpr std::size_t chunk_size = 16 * 1024;

    void grow(std::size_t need) {
        // The first chunk always has the common size, because reset() relies on it.
        if (chunks_.empty()) add_chunk(chunk_size);
        if (need > left_) add_chunk(std::max(need, chunk_size));
    }
    void add_chunk(std::size_t size) {
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
        next_ = chunks_.back().get();
        left_ = size;
    }

    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
    std::size_t size_ = 0;
};

}  // namespace k8s_sd::detail
