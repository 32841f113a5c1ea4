#include "sim/recording/fast_gzip.hpp"

#include <zlib.h>
#include <algorithm>
#include <bit>
#include <cstring>

namespace k8s_sd::inline v0::sim {

namespace {

constexpr std::size_t min_match = 4;
constexpr std::size_t max_match = 258;

/// Bytes read at a time.
constexpr std::size_t word_size = sizeof(std::uint64_t);

/// Of a word whose first byte in memory is the lowest one.
constexpr std::uint64_t little_endian(std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::little) return word;
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < word_size; ++i, word >>= 8) result = result << 8 | (word & 0xFFU);
    return result;
}

/// Huffman codes begin with their highest bit.
constexpr std::uint32_t reversed(std::uint32_t bits, unsigned size) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < size; ++i) result |= ((bits >> i) & 1U) << (size - 1 - i);
    return result;
}

}  // namespace

FastGzip::FastGzip() : window_(window_size), latest_(std::size_t{1} << hash_bits), out_(max_out) {
    for (unsigned i = 0; i < literals_.size(); ++i) literals_[i] = code_of(i);
    // Of the symbols 257 to 285: from this length on, with so many extra bits.
    constexpr std::array<unsigned, 29> begins{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                              15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                              67, 83, 99, 115, 131, 163, 195, 227, 258};
    for (unsigned length = 3; length <= max_match; ++length) {
        const auto after = std::upper_bound(begins.begin(), begins.end(), length);
        const auto index = static_cast<unsigned>(after - begins.begin()) - 1;
        const unsigned extra = index < 8 || index == 28 ? 0 : (index - 4) / 4;
        const Code code = code_of(257 + index);
        lengths_[length] = {code.bits | (length - begins[index]) << code.size, code.size + extra};
    }
}

FastGzip::Code FastGzip::code_of(unsigned symbol) {
    if (symbol < 144) return {reversed(0x30 + symbol, 8), 8};
    if (symbol < 256) return {reversed(0x190 + symbol - 144, 9), 9};
    if (symbol < 280) return {reversed(symbol - 256, 7), 7};
    return {reversed(0xC0 + symbol - 280, 8), 8};
}

FastGzip::Code FastGzip::code_of_distance(std::size_t distance) {
    const auto rest = static_cast<std::uint32_t>(distance - 1);
    if (rest < 4) return {reversed(rest, 5), 5};
    const auto extra = static_cast<unsigned>(std::bit_width(rest)) - 2;
    const std::uint32_t symbol = 2 * (extra + 1) + ((rest >> extra) & 1U);
    return {reversed(symbol, 5) | (rest & ((1U << extra) - 1)) << 5, 5 + extra};
}

/// Of all eight bytes: shorter matches cost more time than they save.
std::size_t FastGzip::hash(std::uint64_t bytes) {
    return static_cast<std::size_t>(bytes * 0x9E3779B185EBCA87U >> (64 - hash_bits));
}

void FastGzip::Bits::drain() {
    const std::uint64_t bytes = little_endian(bits);
    std::memcpy(to, &bytes, word_size);
    const unsigned whole = count / 8;
    to += whole;
    bits >>= 8 * whole;
    count %= 8;
}

void FastGzip::Bits::align() {
    count = (count + 7) / 8 * 8;
    drain();
}

std::uint64_t FastGzip::at(std::size_t position) const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, window_.data() + position, word_size);
    return little_endian(bytes);
}

std::string_view FastGzip::begin() {
    constexpr std::array<unsigned char, 10> head{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
    bits_ = {.to = std::copy(head.begin(), head.end(), out_.data())};
    end_ = 1;
    distance_ = 0;
    std::fill(latest_.begin(), latest_.end(), 0);
    checksum_ = static_cast<std::uint32_t>(::crc32(0, nullptr, 0));
    text_size_ = 0;
    return out();
}

std::string_view FastGzip::add(std::string_view text) {
    const std::size_t from = take(text);
    const Bits compressed = compress(from, bits_);
    // Its codes may be longer than the text.
    if (compressed.to - bits_.to > static_cast<std::ptrdiff_t>(text.size())) {
        put_stored(text);
    } else {
        bits_ = compressed;
    }
    return out();
}

std::string_view FastGzip::store(std::string_view text) {
    take(text);
    put_stored(text);
    return out();
}

std::string_view FastGzip::flush() {
    put_stored({});
    return out();
}

std::string_view FastGzip::finish() {
    bits_.put({3, 3});  // the last block, with fixed codes
    bits_.put(code_of(256));
    bits_.align();
    for (const std::uint32_t number : {checksum_, text_size_}) {
        bits_.put({number, 32});
        bits_.drain();
    }
    return out();
}

std::size_t FastGzip::take(std::string_view text) {
    if (end_ + text.size() > window_.size()) {
        const std::size_t dropped = end_ - max_distance;
        std::memmove(window_.data(), window_.data() + dropped, max_distance);
        end_ = max_distance;
        for (std::uint32_t& position : latest_) {
            position -= static_cast<std::uint32_t>(std::min<std::size_t>(position, dropped));
        }
    }
    const std::size_t from = end_;
    std::memcpy(window_.data() + from, text.data(), text.size());
    end_ += text.size();
    checksum_ =
        static_cast<std::uint32_t>(::crc32(checksum_, reinterpret_cast<const ::Bytef*>(text.data()),
                                           static_cast<::uInt>(text.size())));
    text_size_ += static_cast<std::uint32_t>(text.size());
    return from;
}

FastGzip::Bits FastGzip::compress(std::size_t from, Bits to) {
    to.put({2, 3});  // a block with fixed codes
    const std::size_t end_of_words = end_ - std::min(end_, word_size);
    std::size_t misses = 0;
    std::size_t position = from;
    const auto put_literals = [&](std::size_t end) {
        for (; position < end; ++position) {
            to.put(literals_[static_cast<unsigned char>(window_[position])]);
            to.drain();
        }
    };
    while (position < end_of_words) {
        const Match match = match_at(position);
        if (match.found) {
            misses = 0;
            position = refer(position, match.at, to);
        } else {
            // What does not repeat itself is read in larger and larger steps.
            put_literals(std::min(position + 1 + misses++ / 16, end_of_words));
        }
    }
    put_literals(end_);
    to.put(code_of(256));
    to.drain();
    return to;
}

FastGzip::Match FastGzip::match_at(std::size_t position) {
    const std::uint64_t bytes = at(position);
    const auto fits = [&](std::size_t other) {
        return static_cast<std::uint32_t>(at(other)) == static_cast<std::uint32_t>(bytes);
    };
    if (distance_ > 0 && distance_ < position && fits(position - distance_)) {
        return {position - distance_, true};
    }
    std::uint32_t& latest = latest_[hash(bytes)];
    const std::size_t other = latest;
    latest = static_cast<std::uint32_t>(position);
    if (other == 0 || position - other > max_distance || !fits(other)) return {};
    distance_ = position - other;
    return {other, true};
}

std::size_t FastGzip::refer(std::size_t position, std::size_t match, Bits& to) {
    const std::size_t end = end_;
    const Code distance = code_of_distance(position - match);
    std::size_t length = max_match;
    while (length == max_match && end - position >= word_size &&
           static_cast<std::uint32_t>(at(position)) == static_cast<std::uint32_t>(at(match))) {
        length = equal_bytes(position, match, std::min(max_match, end - position));
        to.put(lengths_[length]);
        to.put(distance);
        to.drain();
        position += length;
        match += length;
    }
    if (end - position >= word_size) {
        latest_[hash(at(position - 2))] = static_cast<std::uint32_t>(position - 2);
    }
    return position;
}

std::size_t FastGzip::equal_bytes(std::size_t position, std::size_t match, std::size_t max) const {
    std::size_t length = min_match;
    for (; length + word_size <= max; length += word_size) {
        const std::uint64_t difference = at(position + length) ^ at(match + length);
        if (difference != 0) {
            return length + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
        }
    }
    while (length < max && window_[position + length] == window_[match + length]) ++length;
    return length;
}

void FastGzip::put_stored(std::string_view text) {
    bits_.put({0, 3});
    bits_.align();
    const auto size = static_cast<std::uint32_t>(text.size());
    bits_.put({size | (~size << 16), 32});
    bits_.drain();
    bits_.to = std::copy(text.begin(), text.end(), bits_.to);
}

std::string_view FastGzip::out() {
    const auto size = static_cast<std::size_t>(bits_.to - out_.data());
    bits_.to = out_.data();
    return {reinterpret_cast<const char*>(out_.data()), size};
}

}  // namespace k8s_sd::inline v0::sim
