#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A text of usually at most 15 characters, in 16 bytes: half of a std::string. For members of
/// objects that exist thousands of times, such as resource versions.
class ShortText {
 public:
    ShortText() noexcept = default;
    ShortText(std::string_view text) {
        if (text.size() <= max_size) {
            text.copy(bytes_.data(), text.size());
            size_ = static_cast<std::uint8_t>(text.size());
        } else {
            const std::string* const copy = std::make_unique<std::string>(text).release();
            std::memcpy(bytes_.data(), &copy, sizeof copy);
            size_ = max_size + 1;
        }
    }
    ShortText(const ShortText& other) : ShortText(std::string_view(other)) {}
    ShortText(ShortText&& other) noexcept { swap(other); }
    // Not by value: see Rare.
    ShortText& operator=(const ShortText& other) { return *this = ShortText(other); }
    ShortText& operator=(ShortText&& other) noexcept {
        ShortText(std::move(other)).swap(*this);
        return *this;
    }
    ~ShortText() {
        if (is_long()) delete long_text();
    }

    operator std::string_view() const noexcept {
        return is_long() ? std::string_view(*long_text()) : std::string_view(bytes_.data(), size_);
    }

 private:
    static constexpr std::size_t max_size = 15;

    bool is_long() const noexcept { return size_ > max_size; }
    const std::string* long_text() const noexcept {
        const std::string* text = nullptr;
        std::memcpy(&text, bytes_.data(), sizeof text);
        return text;
    }
    void swap(ShortText& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
    }

    std::array<char, max_size> bytes_{};  // of a longer text a pointer to it
    std::uint8_t size_ = 0;               // of a longer text more than max_size
};

}  // namespace k8s_sd::inline v0::detail
