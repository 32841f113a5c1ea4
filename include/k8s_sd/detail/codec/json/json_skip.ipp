#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/codec/json/json_skip.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// GCC and Clang can compile single functions for a newer instruction set.
#if defined(__x86_64__) && defined(__GNUC__)
#define K8S_SD_HAS_AVX2
#include <immintrin.h>
#endif

// Inlined into functions for different instruction sets, so each is compiled with its own.
#if defined(__GNUC__)
#define K8S_SD_IN_EACH [[gnu::always_inline]] inline
#else
#define K8S_SD_IN_EACH inline
#endif

namespace k8s_sd::inline v0::detail {

namespace {

/// For each bit: the parity of all bits up to and including it.
K8S_SD_IN_EACH std::uint64_t odd_up_to(std::uint64_t bits) noexcept {
    for (unsigned distance = 1; distance < 64; distance *= 2) bits ^= bits << distance;
    return bits;
}

struct PortableScan {
    static JsonBlock at(const char* text) noexcept { return portable_json_block(text); }
};
struct CommonScan {
    static JsonBlock at(const char* text) noexcept { return json_block(text); }
};

#if defined(K8S_SD_HAS_AVX2)

struct Avx2Scan {
    [[gnu::target("avx2,bmi")]] static JsonBlock at(const char* text) noexcept;
};

[[gnu::target("avx2,bmi")]] inline JsonBlock Avx2Scan::at(const char* text) noexcept {
    JsonBlock block;
    for (unsigned at = 0; at < JsonBlock::size; at += 32) {
        const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
        const __m256i folded = _mm256_or_si256(all, _mm256_set1_epi8(curly_bit));
        const __m256i control = _mm256_min_epu8(all, _mm256_set1_epi8(0x1f));
        const auto add = [at](std::uint64_t& bits, unsigned found) {
            bits |= std::uint64_t{found} << at;
        };
#define K8S_SD_EQUAL(a, b) static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)))
        add(block.quotes, K8S_SD_EQUAL(all, _mm256_set1_epi8('"')));
        add(block.backslashes, K8S_SD_EQUAL(all, _mm256_set1_epi8('\\')));
        add(block.opening, K8S_SD_EQUAL(folded, _mm256_set1_epi8('{')));
        add(block.closing, K8S_SD_EQUAL(folded, _mm256_set1_epi8('}')));
        add(block.square, ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_slli_epi16(all, 2))));
        add(block.control, K8S_SD_EQUAL(control, all));
#undef K8S_SD_EQUAL
    }
    return block;
}

#endif

}  // namespace

JsonSkip::Means JsonSkip::means() noexcept {
#if defined(K8S_SD_HAS_AVX2)
    static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    if (avx2) return Means::avx2;
#endif
    return Means::common;
}

void JsonSkip::begin(std::size_t max_depth) noexcept {
    depth_ = 0;
    max_depth_ = max_depth;
    in_string_ = escapes_next_ = 0;
    failed_ = false;
}

// The characters after the backslash of an escape.
K8S_SD_IN_EACH std::uint64_t JsonSkip::escaped(std::uint64_t backslashes,
                                               std::size_t size) noexcept {
    if (backslashes == 0) {
        const std::uint64_t first = escapes_next_;
        escapes_next_ = 0;
        return first;
    }
    // In a run of backslashes, every second character is escaped. Adding the start of a run to it
    // carries a bit past its end; this distinguishes runs starting at an odd bit from the others.
    constexpr std::uint64_t even = 0x5555555555555555;
    const std::uint64_t starting = backslashes & ~escapes_next_;
    const std::uint64_t behind = starting << 1U | escapes_next_;
    const std::uint64_t odd_starts = starting & ~even & ~behind;
    const std::uint64_t sum = odd_starts + starting;
    const bool carries = sum < odd_starts;
    const std::uint64_t found = (even ^ sum << 1U) & behind;
    // A partial block is padded with blanks.
    escapes_next_ = size < JsonBlock::size ? found >> size & 1U : std::uint64_t{carries};
    return found;
}

// The brackets except "{}" and "[]", frequent in managedFields. The skipped value itself may be an
// empty one; it begins at the first character.
K8S_SD_IN_EACH std::uint64_t JsonSkip::without_empty(const JsonBlock& block,
                                                     std::uint64_t brackets) const noexcept {
    const std::uint64_t alike = ~(block.square ^ block.square >> 1U);
    const std::uint64_t root = depth_ == 0 ? 1 : 0;
    const std::uint64_t empty =
        (block.opening & brackets) & (block.closing & brackets) >> 1U & alike & ~root;
    return brackets & ~(empty | empty << 1U);
}

// The number of characters within the skipped value.
K8S_SD_IN_EACH std::size_t JsonSkip::pass_block(const JsonBlock& block, std::size_t size) noexcept {
    const std::uint64_t quotes = block.quotes & ~escaped(block.backslashes, size);
    // From the opening quote to the character before the closing one.
    const std::uint64_t strings = odd_up_to(quotes) ^ in_string_;
    std::uint64_t wrong = (block.control & strings) | (block.backslashes & ~strings);
    std::size_t depth = depth_;
    std::size_t max_seen = depth;
    unsigned unmatched = 0;
    std::size_t used = size;
    // Branchless: the mix of opening and closing brackets is hard to predict.
    for (std::uint64_t left = without_empty(block, (block.opening | block.closing) & ~strings);
         left != 0; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        const unsigned opens = block.opening >> bit & 1U;
        const unsigned square = block.square >> bit & 1U;
        depth -= 1U - opens;
        unmatched |= (1U - opens) & (square_[depth] ^ square);
        square_[depth] = static_cast<std::uint8_t>(square);
        depth += opens;
        max_seen = std::max(max_seen, depth);
        if (depth == 0) {
            used = bit + 1;
            wrong &= (std::uint64_t{1} << bit) - 1;
            break;
        }
    }
    depth_ = depth;
    in_string_ = 0 - (strings >> 63U);
    failed_ = wrong != 0 || unmatched != 0 || max_seen > max_depth_;
    return used;
}

template <class Scan>
K8S_SD_IN_EACH const char* JsonSkip::pass_blocks(const char* at, const char* end) noexcept {
    while (end - at >= static_cast<std::ptrdiff_t>(JsonBlock::size)) {
        at += pass_block(Scan::at(at), JsonBlock::size);
        if (done() || failed_) return at;
    }
    if (at == end) return at;
    std::array<char, JsonBlock::size> padded;
    padded.fill(' ');
    const auto size = static_cast<std::size_t>(end - at);
    std::memcpy(padded.data(), at, size);
    const std::size_t used = pass_block(Scan::at(padded.data()), size);
    cleanse(padded.data(), size);  // annotations of a Secret may contain its data
    return at + used;
}

const char* JsonSkip::pass(const char* at, const char* end) noexcept {
    switch (means_) {
        case Means::portable: return pass_blocks<PortableScan>(at, end);
        case Means::avx2: return pass_with_avx2(at, end);
        case Means::common: break;
    }
    return pass_blocks<CommonScan>(at, end);
}

#if defined(K8S_SD_HAS_AVX2)
[[gnu::target("avx2,bmi")]]
#endif
const char*
JsonSkip::pass_with_avx2(const char* at, const char* end) noexcept {
#if defined(K8S_SD_HAS_AVX2)
    return pass_blocks<Avx2Scan>(at, end);
#else
    return pass_blocks<CommonScan>(at, end);
#endif
}

}  // namespace k8s_sd::inline v0::detail

#undef K8S_SD_HAS_AVX2
#undef K8S_SD_IN_EACH
