#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A run of bytes of a known length that arrives in pieces. Where it comes in one piece, nothing is
/// copied. Grows with what has arrived, whatever length was announced; nothing of it stays behind.
class PayloadBuffer {
 public:
    /// \param most  of a longer run only the start is kept
    void expect(std::uint64_t size, std::size_t most) {
        clear();
        size_ = left_ = size;
        most_ = most;
        cut_ = size > most;
    }
    /// Takes its part from the front of `bytes`. \returns whether the run is complete
    bool take(std::string_view& bytes) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        const std::string_view part = bytes.substr(0, size);
        bytes.remove_prefix(size);
        left_ -= size;
        if (used_ == 0 && left_ == 0) {
            view_ = part.substr(0, most_);
        } else {
            append(part.substr(0, most_ - used_));
            view_ = {room_.data(), used_};
        }
        return left_ == 0;
    }
    /// Nothing of the run has come.
    bool untouched() const noexcept { return left_ == size_; }
    /// Of a run that is complete; lives until the bytes that were taken do, or the next call.
    std::string_view view() const noexcept { return view_; }
    /// Only the start was kept.
    bool cut() const noexcept { return cut_; }
    void clear() noexcept {
        view_ = {};
        if (room_.size() > largest_kept) return release();
        cleanse(room_.data(), used_);
        used_ = 0;
    }
    /// Gives the memory back.
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
        CleansedBytes room(std::max(need, std::min(2 * room_.size(), most_)));
        std::copy_n(room_.data(), used_, room.data());
        room_.swap(room);
    }

    std::uint64_t size_ = 0;
    std::uint64_t left_ = 0;
    std::size_t most_ = 0;
    bool cut_ = false;
    CleansedBytes room_;    // of which some is used
    std::size_t used_ = 0;  // by the parts that have come
    std::string_view view_;
};

}  // namespace k8s_sd::inline v0::detail
