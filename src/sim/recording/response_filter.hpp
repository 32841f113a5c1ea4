#pragma once

#include "sim/recording/anonymiser.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// Makes of the bytes of one response those to record. Cookies are left out. An anonymous response
/// keeps four headers, and its body is replaced and sent in chunks, since its size changes.
class ResponseFilter {
 public:
    /// \param names  null: the body stays \param request  of which this is the response
    ResponseFilter(std::shared_ptr<Anonymiser> names, std::string_view request);

    /// In pieces of any size; a piece may lead to no bytes.
    std::string feed(std::string_view bytes);
    /// Whether feed() returns its bytes: those of a body without new names.
    bool keeps_bytes() const noexcept { return !names_ && !is_head_; }
    /// Whether the body to record is compressed by the server.
    bool is_compressed() const noexcept { return is_compressed_; }
    /// The server has ended the connection.
    std::string end();

 private:
    enum class Body : std::uint8_t { none, sized, chunked, until_end, done };

    void read_head(std::string_view head, std::string& out);
    void read_body(std::string_view bytes, std::string& out);
    void read_chunks(std::string_view bytes, std::string& out);
    void add_chunk(std::string_view body, std::string& out);
    void end_body(std::string& out);

    const std::shared_ptr<Anonymiser> names_;
    const bool has_documents_;
    std::string head_;  ///< until it is complete
    bool is_head_ = true;
    Body body_ = Body::none;
    std::size_t rest_ = 0;    ///< of the body, or of the chunk
    std::string chunk_line_;  ///< of the next chunk, as far as read
    bool is_last_chunk_ = false;
    bool is_compressed_ = false;
    std::optional<JsonAnonymiser> json_;
    std::string text_;  ///< of a body that is no JSON
};

}  // namespace k8s_sd::inline v0::sim
