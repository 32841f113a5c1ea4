#pragma once

#include "k8s_sd/detail/codec/json_block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// Deeper than any object of Kubernetes.
inline constexpr std::size_t max_json_depth = 256;

/// Passes over an object or array of JSON to which nobody listens, without looking at its values.
///
/// Exact about where it ends: strings, escapes, and which bracket closes which. It refuses control
/// characters in strings, backslashes outside of them, brackets that do not match, and nesting that
/// is too deep, where empty brackets do not count. What stands between the brackets and strings is
/// not looked at, nor is what follows a backslash: `[1 2]`, `{"a"}` and `["\x"]` pass.
class JsonSkip {
 public:
    /// How the characters are looked at. All ways find the same.
    enum class Means : std::uint8_t { portable, common, avx2 };
    /// The fastest way of this machine.
    static Means means() noexcept;

    explicit JsonSkip(Means means = JsonSkip::means()) noexcept : means_(means) {}

    /// The next character is the bracket that opens.
    /// \param most_depth  at most max_json_depth
    void begin(std::size_t most_depth) noexcept;
    /// \returns behind the bracket that closes, or `end` if that is to come. What failed() is not
    /// to be gone on with.
    const char* pass(const char* at, const char* end) noexcept;
    bool failed() const noexcept { return failed_; }
    bool done() const noexcept { return depth_ == 0; }

 private:
    template <class Look>
    const char* pass_blocks(const char* at, const char* end) noexcept;
    const char* pass_with_avx2(const char* at, const char* end) noexcept;
    std::size_t pass_block(const JsonBlock& block, std::size_t size) noexcept;
    std::uint64_t without_empty(const JsonBlock& block, std::uint64_t brackets) const noexcept;
    std::uint64_t escaped(std::uint64_t backslashes, std::size_t size) noexcept;

    Means means_;
    // One more block than the limit: it is looked at when a block is over.
    std::array<std::uint8_t, max_json_depth + JsonBlock::size> square_{};
    std::size_t depth_ = 0;
    std::size_t most_depth_ = 0;
    std::uint64_t in_string_ = 0;     // all bits or none: behind the last block
    std::uint64_t escapes_next_ = 0;  // 1: the last block ended with the backslash of an escape
    bool failed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
