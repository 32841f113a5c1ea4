#include "sim/http/gzip.hpp"

#include "k8s_sd/detail/text/text.hpp"

// Makes zlib's input const.
#define ZLIB_CONST
#include <zlib.h>
#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr int level = 1;
constexpr int gzip_window = 15 + 16;
constexpr int default_memory = 8;

}  // namespace

std::string gzip(std::string_view bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, default_memory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw std::bad_alloc();
    }
    std::string out;
    std::array<unsigned char, 64 * 1024> buffer;
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        if (stream.avail_in == 0 && !bytes.empty()) {
            // zlib's sizes are unsigned int.
            const std::size_t size =
                std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
            stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
            stream.avail_in = static_cast<uInt>(size);
            bytes.remove_prefix(size);
        }
        stream.next_out = buffer.data();
        stream.avail_out = static_cast<uInt>(buffer.size());
        result = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    }
    deflateEnd(&stream);
    return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
    while (!accept_encoding.empty()) {
        const std::string_view coding = accept_encoding.substr(0, accept_encoding.find(','));
        if (detail::trim(coding) == "gzip") return true;
        accept_encoding.remove_prefix(std::min(coding.size() + 1, accept_encoding.size()));
    }
    return false;
}

}  // namespace k8s_sd::inline v0::sim
