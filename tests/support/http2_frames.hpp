#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Frames of HTTP/2 as bytes (RFC 9113), for tests of peers that break rules.
namespace k8s_sd::test::http2 {

enum Type : std::uint8_t {
    data,
    headers,
    priority,
    rst_stream,
    settings,
    push_promise,
    ping,
    goaway,
    window_update,
    continuation
};
enum Flag : std::uint8_t { none = 0, ack = 1, end_stream = 1, end_headers = 4, padded = 8 };
enum Code : std::uint32_t {
    no_error = 0,
    protocol_error = 1,
    internal_error = 2,
    refused_stream = 7,
    cancel = 8,
    enhance_your_calm = 11,
    http_1_1_required = 13
};
enum Setting : std::uint16_t { max_concurrent_streams = 3, initial_window_size = 4 };

inline std::string big_endian(std::uint64_t value, int bytes) {
    std::string result;
    for (int i = bytes - 1; i >= 0; --i) result += static_cast<char>(value >> (8 * i));
    return result;
}
inline std::uint32_t from_big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
}

inline std::string frame(std::uint8_t type, unsigned flags, std::int32_t stream,
                         std::string_view payload = {}) {
    return big_endian(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
           big_endian(static_cast<std::uint32_t>(stream), 4) + std::string(payload);
}
inline std::string settings_frame(
    const std::vector<std::pair<std::uint16_t, std::uint32_t>>& entries = {}) {
    std::string payload;
    for (const auto& [id, value] : entries) payload += big_endian(id, 2) + big_endian(value, 4);
    return frame(settings, none, 0, payload);
}
inline std::string goaway_frame(std::int32_t last_stream, std::uint32_t code) {
    return frame(goaway, none, 0,
                 big_endian(static_cast<std::uint32_t>(last_stream), 4) + big_endian(code, 4));
}
inline std::string rst_frame(std::int32_t stream, std::uint32_t code) {
    return frame(rst_stream, none, stream, big_endian(code, 4));
}

/// A header field in HPACK: a literal that is not indexed; shorter than 127 bytes each.
inline std::string field(std::string_view name, std::string_view value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + std::string(name) +
           static_cast<char>(value.size()) + std::string(value);
}
inline std::string head_frame(std::int32_t stream, std::string_view status = "200",
                              unsigned flags = 0, std::string_view more = {}) {
    return frame(headers, end_headers | flags, stream,
                 field(":status", status) + std::string(more));
}
inline std::string data_frame(std::int32_t stream, std::string_view bytes, unsigned flags = 0) {
    return frame(data, flags, stream, bytes);
}

struct Frame {
    std::uint8_t type = 0;
    unsigned flags = 0;
    std::int32_t stream = 0;
    std::string payload;
};

/// Reads the frames sent by a client, one call after the other.
class FrameReader {
 public:
    static constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    std::vector<Frame> read(std::string_view bytes) {
        buffer_ += bytes;
        if (!greeted_ && buffer_.size() >= preface.size()) {
            greeted_ = buffer_.starts_with(preface);
            buffer_.erase(0, preface.size());
        }
        std::vector<Frame> frames;
        while (greeted_ && buffer_.size() >= 9) {
            const std::size_t size = from_big_endian(std::string_view(buffer_).substr(0, 3));
            if (buffer_.size() < 9 + size) break;
            frames.push_back(
                {static_cast<std::uint8_t>(buffer_[3]), static_cast<std::uint8_t>(buffer_[4]),
                 static_cast<std::int32_t>(from_big_endian(std::string_view(buffer_).substr(5, 4))),
                 buffer_.substr(9, size)});
            buffer_.erase(0, 9 + size);
        }
        return frames;
    }
    bool greeted() const { return greeted_; }

 private:
    std::string buffer_;
    bool greeted_ = false;  ///< the preface has arrived
};

}  // namespace k8s_sd::test::http2
