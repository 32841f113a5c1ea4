#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/transport/inflate.hpp"

#include <zlib.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

// Deflate compresses by at most 1032. Repeated bytes come close to it, objects do not.
constexpr std::uint64_t max_growth = 1000;
constexpr std::uint64_t counts_from = 1024 * 1024;
constexpr int gzip_only = 15 + 16;  // and the largest window

// zlib's copies of the body may be secret. Each block's size precedes it, to wipe it on release.
constexpr std::size_t block_head = alignof(std::max_align_t);

void* allocate_block(void* /*opaque*/, uInt items, uInt size) {
    const std::size_t bytes = block_head + std::size_t{items} * size;
    auto* const block = static_cast<char*>(std::malloc(bytes));
    if (block == nullptr) return nullptr;
    std::memcpy(block, &bytes, sizeof bytes);
    return block + block_head;
}

void free_block(void* /*opaque*/, void* memory) {
    char* const block = static_cast<char*>(memory) - block_head;
    std::size_t bytes = 0;
    std::memcpy(&bytes, block, sizeof bytes);
    cleanse(block, bytes);
    std::free(block);
}

}  // namespace

struct Inflater::State {
    State() {
        stream.zalloc = allocate_block;
        stream.zfree = free_block;
        if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
    }
    ~State() {
        inflateEnd(&stream);
        cleanse(room.data(), room.size());
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// \returns the decompressed bytes
    std::string_view unpack() {
        stream.next_out = reinterpret_cast<Bytef*>(room.data());
        stream.avail_out = static_cast<uInt>(room.size());
        result = inflate(&stream, Z_NO_FLUSH);
        const std::size_t size = room.size() - stream.avail_out;
        unpacked += size;
        return {room.data(), size};
    }
    bool grows_too_much() const noexcept {
        return unpacked > counts_from && unpacked / max_growth > packed;
    }

    z_stream stream{};
    int result = Z_OK;
    bool in_member = false;
    std::uint64_t packed = 0;
    std::uint64_t unpacked = 0;
    std::array<char, std::size_t{64} * 1024> room;
};

Inflater::Inflater() : state_(std::make_unique<State>()) {}
Inflater::~Inflater() = default;

error_code Inflater::feed(std::string_view bytes, const Sink& sink) {
    State& s = *state_;
    s.packed += bytes.size();
    s.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    s.stream.avail_in = static_cast<uInt>(bytes.size());
    while (s.stream.avail_in != 0 || (s.in_member && s.stream.avail_out == 0)) {
        if (!std::exchange(s.in_member, true)) inflateReset(&s.stream);
        const std::string_view unpacked = s.unpack();
        if (s.grows_too_much()) {
            return fail(errc::malformed_response,
                        "the compressed answer grows more than a thousandfold");
        }
        if (!unpacked.empty()) {
            if (const error_code ec = sink(unpacked)) return ec;
        }
        if (s.result == Z_STREAM_END) {
            s.in_member = false;
        } else if (s.result != Z_OK && s.result != Z_BUF_ERROR) {
            const char* const why = s.stream.msg != nullptr ? s.stream.msg : "no gzip";
            return fail(errc::malformed_response,
                        std::string("the compressed answer cannot be unpacked: ") + why);
        }
    }
    return {};
}

error_code Inflater::finish() {
    if (!state_->in_member && state_->packed > 0) return {};
    return fail(errc::truncated_response, "the compressed answer ended in the middle");
}

error_code Inflater::fail(errc what, std::string why) {
    problem_ = std::move(why);
    return what;
}

}  // namespace k8s_sd::inline v0::detail
