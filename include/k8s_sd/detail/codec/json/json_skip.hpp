#pragma once

#include "k8s_sd/detail/codec/json/json_block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// Deeper than any object of Kubernetes.
inline constexpr std::size_t max_json_depth = 256;

/// Skips an unwanted object or array of JSON without parsing its values.
///
/// Finds the exact end: it tracks strings, escapes and matching brackets. It refuses control
/// characters in strings, backslashes outside of them, mismatched brackets, and excessive nesting
/// (empty brackets do not count). It checks neither the text between brackets and strings nor the
/// character after a backslash: `[1 2]`, `{"a"}` and `["\x"]` pass.
class JsonSkip {
 public:
    /// How characters are classified. All implementations have the same result.
    enum class Means : std::uint8_t { portable, common, avx2 };
    /// The fastest implementation on this machine.
    static Means means() noexcept;

    explicit JsonSkip(Means means = JsonSkip::means()) noexcept : means_(means) {}

    /// Starts at the opening bracket, the next character.
    /// \param max_depth  at most max_json_depth
    void begin(std::size_t max_depth) noexcept;
    /// \returns the position after the closing bracket, or `end` if it is still to come. Must not
    /// be called again after failed().
    const char* pass(const char* at, const char* end) noexcept;
    bool failed() const noexcept { return failed_; }
    bool done() const noexcept { return depth_ == 0; }

 private:
    template <class Scan>
    const char* pass_blocks(const char* at, const char* end) noexcept;
    const char* pass_with_avx2(const char* at, const char* end) noexcept;
    std::size_t pass_block(const JsonBlock& block, std::size_t size) noexcept;
    std::uint64_t without_empty(const JsonBlock& block, std::uint64_t brackets) const noexcept;
    std::uint64_t escaped(std::uint64_t backslashes, std::size_t size) noexcept;

    Means means_;
    // One block above the limit: the depth is checked after each block.
    std::array<std::uint8_t, max_json_depth + JsonBlock::size> square_{};
    std::size_t depth_ = 0;
    std::size_t max_depth_ = 0;
    std::uint64_t in_string_ = 0;     // all bits or none: the state after the last block
    std::uint64_t escapes_next_ = 0;  // 1: the last block ended with the backslash of an escape
    bool failed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
