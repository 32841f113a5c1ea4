#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Writes gzip (RFC 1952) for recordings. Lists of objects repeat themselves. zlib compresses them
/// at 0.6 GB/s at best, since it enters each byte of a match into its tables. This encoder enters
/// two positions, tries the distance of the previous match first, and uses the fixed codes of
/// deflate (RFC 1951): 1.4 GB/s with the checksum. Its files are as large as those of zlib's level
/// 1.
///
/// Each function returns bytes of the file, valid until the next call. The bytes of a text may come
/// with a later one, at the latest with flush().
class FastGzip {
 public:
    /// Of one text.
    static constexpr std::size_t max_text = std::size_t{1} << 15;
    /// A block may add so many bytes to the file, beside those of its text.
    static constexpr std::size_t max_overhead = 16;

    FastGzip();
    FastGzip(const FastGzip&) = delete;  // `bits_` points into `out_`
    FastGzip& operator=(const FastGzip&) = delete;

    /// Begins a new file.
    std::string_view begin();
    std::string_view add(std::string_view text);
    /// Without compression: for a text that is compressed already.
    std::string_view store(std::string_view text);
    /// Afterwards a reader of the bytes so far has all the text so far.
    std::string_view flush();
    /// The end of the file.
    std::string_view finish();

 private:
    /// Bits of the file, the first one being the lowest.
    struct Code {
        std::uint32_t bits = 0;
        unsigned size = 0;
    };
    /// The end of the output, with the bits that are no whole byte yet.
    struct Bits {
        unsigned char* to = nullptr;
        std::uint64_t bits = 0;
        unsigned count = 0;

        void put(Code code) {
            bits |= std::uint64_t{code.bits} << count;
            count += code.size;
        }
        /// Whole bytes leave, so there is room for 56 more bits.
        void drain();
        void align();
    };
    /// Equal bytes before.
    struct Match {
        std::size_t at = 0;  ///< in the window
        bool found = false;
    };
    static constexpr std::size_t max_distance = std::size_t{1} << 15;
    static constexpr std::size_t window_size = 5 * max_distance;
    static constexpr unsigned hash_bits = 13;
    static constexpr std::size_t max_out = 2 * max_text;

    static Code code_of(unsigned symbol);
    static Code code_of_distance(std::size_t distance);
    static std::size_t hash(std::uint64_t bytes);

    std::uint64_t at(std::size_t position) const;
    /// Makes room for the text in the window. \returns its position
    std::size_t take(std::string_view text);
    /// \returns the end of the output with the block of the text from there on
    Bits compress(std::size_t from, Bits);
    Match match_at(std::size_t position);
    /// Refers to all equal bytes. \returns the position after them
    std::size_t refer(std::size_t position, std::size_t match, Bits&);
    std::size_t equal_bytes(std::size_t position, std::size_t match, std::size_t max) const;
    void put_stored(std::string_view text);
    std::string_view out();

    std::vector<char> window_;           ///< at least the last max_distance bytes of text
    std::size_t end_ = 1;                ///< of the text in the window; 0 is no position
    std::vector<std::uint32_t> latest_;  ///< position by hash
    std::size_t distance_ = 0;           ///< of the previous match; 0: none
    std::array<Code, 256> literals_{};
    std::array<Code, 259> lengths_{};  ///< of matches, with their extra bits
    std::vector<unsigned char> out_;
    Bits bits_;
    std::uint32_t checksum_ = 0;
    std::uint32_t text_size_ = 0;  ///< modulo 2^32
};

}  // namespace k8s_sd::inline v0::sim
