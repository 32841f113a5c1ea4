#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A run of bytes of a known length, received in pieces. A run in one piece is not copied. The
/// buffer grows with the received bytes, whatever length was announced, and wipes them afterwards.
class PayloadBuffer {
 public:
    /// \param max_stored  only so many bytes of a longer run are stored
    void expect(std::uint64_t size, std::size_t max_stored) {
        clear();
        size_ = left_ = size;
        max_stored_ = max_stored;
        cut_ = size > max_stored;
    }
    /// Takes bytes of the run from the front of `bytes`. \returns whether the run is complete
    bool take(std::string_view& bytes) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        const std::string_view part = bytes.substr(0, size);
        bytes.remove_prefix(size);
        left_ -= size;
        if (used_ == 0 && left_ == 0) {
            view_ = part.substr(0, max_stored_);
        } else {
            append(part.substr(0, max_stored_ - used_));
            view_ = {room_.data(), used_};
        }
        return left_ == 0;
    }
    /// No byte of the run has arrived.
    bool untouched() const noexcept { return left_ == size_; }
    /// The complete run; valid as long as the bytes it was taken from, at most until the next call.
    std::string_view view() const noexcept { return view_; }
    /// Only the start was stored.
    bool cut() const noexcept { return cut_; }
    void clear() noexcept {
        view_ = {};
        if (room_.size() > largest_kept) return release();
        cleanse(room_.data(), used_);
        used_ = 0;
    }
    /// Frees the memory.
    void release() noexcept {
        view_ = {};
        CleansedBytes().swap(room_);
        used_ = 0;
    }

 private:
    static constexpr std::size_t largest_kept = 64 * 1024;

    void append(std::string_view part) {
        if (part.size() > room_.size() - used_) grow(used_ + part.size());
        part.copy(room_.data() + used_, part.size());
        used_ += part.size();
    }
    void grow(std::size_t need) {
        CleansedBytes room(std::max(need, std::min(2 * room_.size(), max_stored_)));
        std::copy_n(room_.data(), used_, room.data());
        room_.swap(room);
    }

    std::uint64_t size_ = 0;
    std::uint64_t left_ = 0;
    std::size_t max_stored_ = 0;
    bool cut_ = false;
    CleansedBytes room_;    // used in part
    std::size_t used_ = 0;  // bytes received so far
    std::string_view view_;
};

}  // namespace k8s_sd::inline v0::detail
