// Compressed bodies from a hostile server: the first byte chooses the size of the pieces. The
// output equals zlib's for the whole body.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_inflate -max_total_time=60 tests/fuzz/corpus/inflate

#include "k8s_sd/detail/transport/inflate.hpp"

#include <zlib.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd;

constexpr std::size_t most = std::size_t{8} << 20;

void require(bool condition) {
    if (!condition) std::abort();
}

/// nullopt after an error.
std::optional<std::string> unpack(std::string_view bytes, std::size_t piece) {
    detail::Inflater inflater;
    std::string out;
    const auto sink = [&](std::string_view part) {
        out += part;
        return out.size() > most ? error_code(errc::too_many_objects) : error_code();
    };
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        if (inflater.feed(bytes.substr(0, piece), sink)) return std::nullopt;
    }
    if (inflater.finish()) return std::nullopt;
    return out;
}

/// With zlib alone, member after member.
std::optional<std::string> unpack_whole(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        z_stream stream{};
        if (inflateInit2(&stream, 15 + 16) != Z_OK) std::abort();
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream.avail_in = static_cast<uInt>(bytes.size());
        int result = Z_OK;
        while (result == Z_OK && out.size() <= most) {
            char room[4096];
            stream.next_out = reinterpret_cast<Bytef*>(room);
            stream.avail_out = sizeof room;
            result = inflate(&stream, Z_NO_FLUSH);
            out.append(room, sizeof room - stream.avail_out);
        }
        bytes.remove_prefix(bytes.size() - stream.avail_in);
        inflateEnd(&stream);
        if (result != Z_STREAM_END || out.size() > most) return std::nullopt;
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto pieces = unpack(bytes, data[0] % 64U + 1U);
    const auto whole = bytes.empty() ? std::nullopt : unpack_whole(bytes);
    if (!whole) {
        require(!pieces);
    } else if (whole->size() <= std::size_t{1} << 20) {
        require(pieces == whole);
    } else {
        // A part of it may have exceeded the expansion limit.
        require(!pieces || pieces == whole);
    }
    return 0;
}
