#include "lists/list_body.hpp"

#define ZLIB_CONST  // the compressed input is const
#include <openssl/evp.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

namespace k8s_sd_program {

namespace {

/// A cryptographic hash, because labels are untrusted: two lists must not get the same tag.
std::string content_hash(std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    constexpr std::size_t enough = 16;
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("SHA-256 is not to be had");
    }
    std::string text;
    for (const unsigned char byte : std::span(hash).first(enough)) {
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

/// Lists are so repetitive that the fastest level is sufficient.
std::string compressed(std::string_view bytes) {
    z_stream stream{};
    constexpr int gzip_format = 15 + 16;
    constexpr int usual_memory = 8;
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_format, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
    std::string result(1024, '\0');
    // zlib counts in 32 bits, so pass input and output in chunks.
    constexpr std::size_t max_size = std::size_t{1} << 30;
    std::size_t made = 0;
    std::size_t given = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (stream.avail_in == 0) {
            const std::string_view piece = bytes.substr(given, max_size);
            stream.next_in = reinterpret_cast<const Bytef*>(piece.data());
            stream.avail_in = static_cast<uInt>(piece.size());
            given += piece.size();
        }
        if (made == result.size()) result.resize(result.size() * 2);
        const std::size_t room = std::min(result.size() - made, max_size);
        stream.next_out = reinterpret_cast<Bytef*>(result.data() + made);
        stream.avail_out = static_cast<uInt>(room);
        status = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        made += room - stream.avail_out;
        if (status == Z_STREAM_ERROR) throw std::logic_error("deflate");
    }
    result.resize(made);
    result.shrink_to_fit();
    return result;
}

struct CountedText {
    CountedText(std::string t, HeldBytes h) : text(std::move(t)), held(std::move(h)) {
        *held += text.size();
    }
    ~CountedText() { *held -= text.size(); }
    CountedText(const CountedText&) = delete;
    CountedText& operator=(const CountedText&) = delete;

    const std::string text;
    const HeldBytes held;
};

}  // namespace

SharedText counted_text(std::string text, const HeldBytes& held) {
    if (!held) return std::make_shared<const std::string>(std::move(text));
    const auto counted = std::make_shared<const CountedText>(std::move(text), held);
    return {counted, &counted->text};
}

ListBody::ListBody(std::string bytes, HeldBytes held)
    : held_(std::move(held)),
      bytes_(counted_text(std::move(bytes), held_)),
      tag_('"' + content_hash(*bytes_) + '"'),
      gzip_tag_(tag_.substr(0, tag_.size() - 1) + "-gzip\"") {}

SharedText ListBody::gzip() const {
    std::call_once(compressed_, [&] { gzip_ = counted_text(compressed(*bytes_), held_); });
    return gzip_;
}

}  // namespace k8s_sd_program
