#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#define K8S_SD_SIXTEEN_CHARACTERS
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define K8S_SD_SIXTEEN_CHARACTERS
#endif

/// Classifies many characters of JSON at once: with SSE2 (any x86-64), with NEON (any 64-bit ARM),
/// or eight at a time in general registers. The latter is compiled on every machine, so tests
/// compare it with the others.
namespace k8s_sd::inline v0::detail {

/// Bit masks over 64 characters; the lowest bit stands for the first character.
struct JsonBlock {
    static constexpr std::size_t size = 64;

    std::uint64_t quotes = 0, backslashes = 0;
    std::uint64_t opening = 0, closing = 0;  ///< brackets of both kinds
    std::uint64_t square = 0;   ///< set for square brackets; undefined for other characters
    std::uint64_t control = 0;  ///< less than the blank

    friend bool operator==(const JsonBlock&, const JsonBlock&) = default;
};

/// The bit that turns a square bracket into the curly one of the same direction.
inline constexpr unsigned char curly_bit = 0x20;

/// Eight characters in one register.
class EightCharacters {
 public:
    explicit EightCharacters(const char* text) noexcept {
        // In text order, whatever the endianness.
        std::array<unsigned char, 8> bytes{};
        std::memcpy(bytes.data(), text, bytes.size());
        for (unsigned i = 0; i < bytes.size(); ++i) all_ |= std::uint64_t{bytes[i]} << (8 * i);
    }
    EightCharacters with(unsigned char bit) const noexcept {
        return EightCharacters(all_ | lowest * bit);
    }
    /// One bit for each character, as in JsonBlock.
    std::uint64_t equal(unsigned char c) const noexcept {
        const std::uint64_t other = all_ ^ (lowest * c);
        // Carry-free and exact: a zero byte does not carry into its highest bit.
        return bits(~(((other & low_bits) + low_bits) | other | low_bits));
    }
    std::uint64_t control() const noexcept {
        constexpr std::uint64_t at_least_blank = lowest * (0x80 - 0x20);
        return bits(~(((all_ & low_bits) + at_least_blank) | all_) & ~low_bits);
    }
    std::uint64_t without(unsigned char bit) const noexcept {
        const auto shift = static_cast<unsigned>(7 - std::countr_zero(unsigned{bit}));
        return bits(~(all_ << shift) & ~low_bits);
    }

 private:
    static constexpr std::uint64_t lowest = 0x0101010101010101;
    static constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;

    explicit EightCharacters(std::uint64_t all) noexcept : all_(all) {}
    // Packs the highest bit of each byte.
    static std::uint64_t bits(std::uint64_t highest) noexcept {
        return ((highest >> 7) * 0x0102040810204080) >> 56;
    }

    std::uint64_t all_ = 0;
};

inline JsonBlock portable_json_block(const char* text) noexcept {
    JsonBlock block;
    for (unsigned at = 0; at < JsonBlock::size; at += 8) {
        const EightCharacters eight(text + at);
        const EightCharacters folded = eight.with(curly_bit);
        block.quotes |= eight.equal('"') << at;
        block.backslashes |= eight.equal('\\') << at;
        block.opening |= folded.equal('{') << at;
        block.closing |= folded.equal('}') << at;
        block.square |= eight.without(curly_bit) << at;
        block.control |= eight.control() << at;
    }
    return block;
}

#if defined(__SSE2__)

/// Sixteen characters in one register.
class SixteenCharacters {
 public:
    explicit SixteenCharacters(const char* text) noexcept
        : all_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text))) {}
    SixteenCharacters with(unsigned char bit) const noexcept {
        return SixteenCharacters(_mm_or_si128(all_, many(bit)));
    }
    std::uint64_t equal(unsigned char c) const noexcept { return bits(is(c)); }
    std::uint64_t control() const noexcept { return bits(is_control()); }
    std::uint64_t without(unsigned char bit) const noexcept {
        return bits(_mm_cmpeq_epi8(_mm_and_si128(all_, many(bit)), _mm_setzero_si128()));
    }
    /// The characters that end plain text in a string.
    unsigned ends_text() const noexcept {
        const __m128i special = _mm_or_si128(is('"'), is('\\'));
        return bits(_mm_or_si128(special, is_control()));
    }

 private:
    explicit SixteenCharacters(__m128i all) noexcept : all_(all) {}
    static __m128i many(unsigned char c) noexcept { return _mm_set1_epi8(static_cast<char>(c)); }
    static unsigned bits(__m128i mask) noexcept {
        return static_cast<unsigned>(_mm_movemask_epi8(mask));
    }
    __m128i is(unsigned char c) const noexcept { return _mm_cmpeq_epi8(all_, many(c)); }
    __m128i is_control() const noexcept {
        return _mm_cmpeq_epi8(_mm_min_epu8(all_, many(0x1f)), all_);
    }

    __m128i all_;
};

#elif defined(K8S_SD_SIXTEEN_CHARACTERS)

/// Sixteen characters in one register of NEON.
class SixteenCharacters {
 public:
    explicit SixteenCharacters(const char* text) noexcept
        : all_(vld1q_u8(reinterpret_cast<const std::uint8_t*>(text))) {}
    SixteenCharacters with(unsigned char bit) const noexcept {
        return SixteenCharacters(vorrq_u8(all_, vdupq_n_u8(bit)));
    }
    std::uint64_t equal(unsigned char c) const noexcept { return bits(is(c)); }
    std::uint64_t control() const noexcept { return bits(is_control()); }
    std::uint64_t without(unsigned char bit) const noexcept {
        return bits(vmvnq_u8(vtstq_u8(all_, vdupq_n_u8(bit))));
    }
    /// The characters that end plain text in a string.
    unsigned ends_text() const noexcept {
        return bits(vorrq_u8(vorrq_u8(is('"'), is('\\')), is_control()));
    }

 private:
    explicit SixteenCharacters(uint8x16_t all) noexcept : all_(all) {}
    // NEON has no movemask: each byte keeps its own bit, and each half is added up.
    static unsigned bits(uint8x16_t mask) noexcept {
        alignas(16) static constexpr std::uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                                 1, 2, 4, 8, 16, 32, 64, 128};
        const uint8x16_t own = vandq_u8(mask, vld1q_u8(weights));
        return unsigned{vaddv_u8(vget_low_u8(own))} | unsigned{vaddv_u8(vget_high_u8(own))} << 8U;
    }
    uint8x16_t is(unsigned char c) const noexcept { return vceqq_u8(all_, vdupq_n_u8(c)); }
    uint8x16_t is_control() const noexcept { return vcltq_u8(all_, vdupq_n_u8(0x20)); }

    uint8x16_t all_;
};

#endif

#if defined(K8S_SD_SIXTEEN_CHARACTERS)

inline JsonBlock json_block(const char* text) noexcept {
    JsonBlock block;
    for (unsigned at = 0; at < JsonBlock::size; at += 16) {
        const SixteenCharacters sixteen(text + at);
        const SixteenCharacters folded = sixteen.with(curly_bit);
        block.quotes |= sixteen.equal('"') << at;
        block.backslashes |= sixteen.equal('\\') << at;
        block.opening |= folded.equal('{') << at;
        block.closing |= folded.equal('}') << at;
        block.square |= sixteen.without(curly_bit) << at;
        block.control |= sixteen.control() << at;
    }
    return block;
}

#else

inline JsonBlock json_block(const char* text) noexcept { return portable_json_block(text); }

#endif

/// Finds the end of plain text in a string: a quote, a backslash, a control character or `end`.
inline const char* find_end_of_text(const char* at, const char* end) noexcept {
#if defined(K8S_SD_SIXTEEN_CHARACTERS)
    for (; end - at >= 16; at += 16) {
        const unsigned ends = SixteenCharacters(at).ends_text();
        if (ends != 0) return at + std::countr_zero(ends);
    }
#endif
    while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
    return at;
}

}  // namespace k8s_sd::inline v0::detail

#undef K8S_SD_SIXTEEN_CHARACTERS
