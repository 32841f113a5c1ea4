#include "k8s_sd/detail/codec/json_skip.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace k8s_sd::inline v0::detail {

namespace {

/// Of each bit: whether an odd number of bits is set up to it, with itself.
std::uint64_t odd_up_to(std::uint64_t bits) noexcept {
    for (unsigned distance = 1; distance < 64; distance *= 2) bits ^= bits << distance;
    return bits;
}

std::uint64_t bits_below(unsigned bit) noexcept { return (std::uint64_t{1} << bit) - 1; }

}  // namespace

void JsonSkip::begin(std::size_t most_depth) noexcept {
    depth_ = 0;
    most_depth_ = most_depth;
    in_string_ = escapes_next_ = 0;
    failed_ = false;
}

const char* JsonSkip::pass(const char* at, const char* end) noexcept {
    while (end - at >= static_cast<std::ptrdiff_t>(JsonBlock::size)) {
        at = pass_block(json_block(at), at, JsonBlock::size);
        if (done() || failed_) return at;
    }
    if (at == end) return at;
    std::array<char, JsonBlock::size> padded;
    padded.fill(' ');
    const auto size = static_cast<std::size_t>(end - at);
    std::memcpy(padded.data(), at, size);
    return pass_block(json_block(padded.data()), at, size);
}

const char* JsonSkip::pass_block(const JsonBlock& block, const char* at,
                                 std::size_t size) noexcept {
    const std::uint64_t quotes = block.quotes & ~escaped(block.backslashes, size);
    // From the quote that opens to the one before the quote that closes.
    const std::uint64_t strings = odd_up_to(quotes) ^ in_string_;
    std::uint64_t wrong = (block.control & strings) | (block.backslashes & ~strings);
    std::size_t depth = depth_;
    std::size_t deepest = depth;
    unsigned unmatched = 0;
    std::size_t used = size;
    // Without branches: what opens and what closes is hard to foretell.
    for (std::uint64_t brackets = (block.opening | block.closing) & ~strings; brackets != 0;
         brackets &= brackets - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(brackets));
        const unsigned opens = block.opening >> bit & 1U;
        const unsigned square = block.square >> bit & 1U;
        depth -= 1U - opens;
        unmatched |= (1U - opens) & (square_[depth] ^ square);
        square_[depth] = static_cast<std::uint8_t>(square);
        depth += opens;
        deepest = std::max(deepest, depth);
        if (depth == 0) {
            used = bit + 1;
            wrong &= bits_below(bit);
            break;
        }
    }
    depth_ = depth;
    in_string_ = 0 - (strings >> 63);
    failed_ = wrong != 0 || unmatched != 0 || deepest > most_depth_;
    return at + used;
}

// The characters that stand behind the backslash of an escape.
std::uint64_t JsonSkip::escaped(std::uint64_t backslashes, std::size_t size) noexcept {
    if (backslashes == 0) {
        const std::uint64_t first = escapes_next_;
        escapes_next_ = 0;
        return first;
    }
    // Of a run of backslashes each second one is escaped. Adding the start of a run to it carries
    // a bit behind its end; those that start at an odd bit are told from the others that way.
    constexpr std::uint64_t even = 0x5555555555555555;
    const std::uint64_t starting = backslashes & ~escapes_next_;
    const std::uint64_t behind = starting << 1 | escapes_next_;
    const std::uint64_t odd_starts = starting & ~even & ~behind;
    const std::uint64_t sum = odd_starts + starting;
    const bool carries = sum < odd_starts;
    const std::uint64_t found = (even ^ sum << 1) & behind;
    // Behind a part of a block there are blanks.
    escapes_next_ = size < JsonBlock::size ? found >> size & 1U : std::uint64_t{carries};
    return found;
}

}  // namespace k8s_sd::inline v0::detail
