#pragma once

#include "k8s_sd/sim/message.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// Extracts HTTP/1.1 requests from the bytes of a connection.
class RequestReader {
 public:
    enum class Result { incomplete, complete, malformed };

    void append(std::string_view bytes) { bytes_ += bytes; }
    std::size_t buffered() const { return bytes_.size(); }
    /// Takes the next request out of the buffer. \param close  the client wants no keep-alive
    Result next(Request& request, bool& close);

 private:
    std::string bytes_;
};

/// A whole response, or its first `cut_after` bytes.
std::string serialize(const Response&, bool close);
std::string chunk(std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";
/// \param gzip  the events are compressed
std::string watch_header(std::string_view content_type, bool gzip);

}  // namespace k8s_sd::inline v0::sim
