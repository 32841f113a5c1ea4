#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// FNV-1a with 64 bits: the hash of `shardRange` in Kubernetes' shardSelector (KEP-5866). The same
/// in every process and version, and therefore unsuitable for tables with foreign keys.
/// \param hash  state after the preceding text
constexpr std::uint64_t fnv1a64(std::string_view text,
                                std::uint64_t hash = 0xcbf2'9ce4'8422'2325U) noexcept {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x0000'0100'0000'01b3U;
    }
    return hash;
}

/// A bijection that spreads every bit of its argument over the whole result (the finalizer of
/// SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return x ^ (x >> 31U);
}

/// The random key of a process; it makes the hashes of two processes differ.
struct HashKey {
    std::uint64_t a = 0, b = 0;
};
/// Drawn once in each process.
K8S_SD_EXPORT const HashKey& hash_key() noexcept;

/// SipHash-1-3 of one or more texts. Without the key, colliding texts cannot be chosen.
class KeyedHash {
 public:
    explicit KeyedHash(const HashKey& key) noexcept
        : v0_(0x736f6d6570736575U ^ key.a),
          v1_(0x646f72616e646f6dU ^ key.b),
          v2_(0x6c7967656e657261U ^ key.a),
          v3_(0x7465646279746573U ^ key.b) {}

    KeyedHash& add(std::string_view text) noexcept {
        const char* position = text.data();
        std::size_t left = text.size();
        for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, position, sizeof word);
            add_word(word);
            position += sizeof word;
        }
        std::uint64_t last = 0;
        if (left > 0) std::memcpy(&last, position, left);
        add_word(last | static_cast<std::uint64_t>(text.size()) << 56U);
        return *this;
    }
    std::size_t finish() noexcept {
        v2_ ^= 0xffU;
        for (int i = 0; i < 3; ++i) round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

 private:
    void add_word(std::uint64_t word) noexcept {
        v3_ ^= word;
        round();
        v0_ ^= word;
    }
    void round() noexcept {
        v0_ += v1_;
        v1_ = std::rotl(v1_, 13) ^ v0_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v3_;
        v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ += v3_;
        v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ += v1_;
        v1_ = std::rotl(v1_, 17) ^ v2_;
        v2_ = std::rotl(v2_, 32);
    }

    std::uint64_t v0_, v1_, v2_, v3_;
};

/// For tables with foreign keys. Differs between processes.
inline std::size_t seeded_hash(std::string_view text) noexcept {
    return KeyedHash(hash_key()).add(text).finish();
}
inline std::size_t seeded_hash(std::string_view first, std::string_view second) noexcept {
    return KeyedHash(hash_key()).add(first).add(second).finish();
}
struct SeededHash {
    using is_avalanching = void;
    std::size_t operator()(std::string_view text) const noexcept { return seeded_hash(text); }
};

}  // namespace k8s_sd::inline v0::detail
