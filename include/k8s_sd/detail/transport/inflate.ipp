#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/inflate.hpp"

#include <zlib.h>
#include <algorithm>
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
        cleanse(room.data(), used);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void take(std::string_view bytes) noexcept {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream.avail_in = static_cast<uInt>(bytes.size());
    }
    /// \returns the decompressed bytes
    std::string_view unpack() noexcept {
        stream.next_out = reinterpret_cast<Bytef*>(room.data());
        stream.avail_out = static_cast<uInt>(room.size());
        const uInt before = stream.avail_in;
        result = inflate(&stream, Z_SYNC_FLUSH);
        packed += before - stream.avail_in;
        const std::size_t size = room.size() - stream.avail_out;
        unpacked += size;
        used = std::max(used, size);
        return {room.data(), size};
    }
    std::string_view rest() const noexcept {
        return {reinterpret_cast<const char*>(stream.next_in), stream.avail_in};
    }
    /// Whether zlib may have more bytes although it has read everything.
    bool is_full() const noexcept { return stream.avail_out == 0; }
    bool failed() const noexcept {
        return result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    }

    z_stream stream{};
    int result = Z_OK;
    std::uint64_t packed = 0;  // bytes of this member
    std::uint64_t unpacked = 0;
    std::size_t used = 0;  // bytes of the room
    std::array<char, std::size_t{64} * 1024> room;
};

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

error_code Inflater::feed(std::string_view bytes, const Sink& sink) {
    packed_ += bytes.size();
    while (!bytes.empty()) {
        if (!state_) state_ = std::make_unique<State>();
        state_->take(bytes);
        do {
            if (const error_code ec = unpack_part(sink)) return ec;
        } while (state_->result != Z_STREAM_END && (!state_->rest().empty() || state_->is_full()));
        bytes = state_->rest();
        // A watch is idle most of the time.
        if (state_->result == Z_STREAM_END) state_.reset();
    }
    return {};
}

error_code Inflater::unpack_part(const Sink& sink) {
    State& s = *state_;
    const std::string_view unpacked = s.unpack();
    unpacked_ += unpacked.size();
    if (grows_too_much()) {
        return fail(errc::malformed_response,
                    "the compressed answer grows more than a thousandfold");
    }
    if (!unpacked.empty()) {
        if (const error_code ec = sink(unpacked)) return ec;
    }
    if (!s.failed()) return {};
    const char* const why = s.stream.msg != nullptr ? s.stream.msg : "no gzip";
    return fail(errc::malformed_response,
                std::string("the compressed answer cannot be unpacked: ") + why);
}

/// Also within one member: a watch of days has received many bytes before.
bool Inflater::grows_too_much() const noexcept {
    const auto is_too_much = [](std::uint64_t packed, std::uint64_t unpacked) {
        return unpacked > counts_from && unpacked / max_growth > packed;
    };
    return is_too_much(packed_, unpacked_) || is_too_much(state_->packed, state_->unpacked);
}

error_code Inflater::finish() {
    if (!state_ && packed_ > 0) return {};
    return fail(errc::truncated_response, "the compressed answer ended in the middle");
}

error_code Inflater::fail(errc what, std::string why) {
    problem_ = std::move(why);
    return what;
}

}  // namespace k8s_sd::inline v0::detail
