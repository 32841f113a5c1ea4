#pragma once

#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/payload_buffer.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/codec/text_arena.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Decodes Kubernetes' protobuf: a list, or consecutive events of a watch. An object is decoded in
/// place if it arrives in one piece; otherwise its pieces are buffered until it is complete. Of an
/// object longer than `max_object_bytes` only the start is buffered: it is reported as a bad but
/// identified object, and decoding continues after it.
class ProtobufDecoder final : public Decoder {
 public:
    ProtobufDecoder(const ProtobufSchema& schema, Scratch& scratch, std::size_t max_object_bytes,
                    DocumentSink& sink);

    void begin(Document) override;
    error_code feed(std::string_view bytes) override;
    error_code finish() override;
    void release() override;
    const ListHead& list() const noexcept override { return head_; }
    const std::string& problem() const noexcept override { return problem_; }

 private:
    /// The meaning of the next byte.
    enum class Step : std::uint8_t {
        magic,    ///< the start of a list
        tag,      ///< the number and type of a field: in the list, or in its envelope
        length,   ///< of the field's bytes
        integer,  ///< an unwanted field
        skipped,  ///< bytes of an unwanted field
        field,    ///< bytes of a field
        frame,    ///< the length of an event
        event,    ///< the event
    };

    error_code read(std::string_view& bytes);
    bool take_integer(std::string_view& bytes);
    bool take_payload(std::string_view& bytes);
    void next_field();
    void next_frame();
    error_code skip(std::uint64_t size);
    error_code expect(std::uint64_t size, std::size_t most);

    error_code on_integer();
    error_code on_tag();
    error_code on_length();
    error_code begin_envelope_field();
    error_code begin_list_field();
    error_code on_magic(std::string_view magic);
    error_code on_field(std::string_view bytes);
    error_code on_type_meta(std::string_view bytes);
    error_code on_list_meta(std::string_view bytes);
    error_code on_item(std::string_view object);
    error_code on_frame_head(std::string_view length);
    error_code on_event(std::string_view bytes);
    ObjectProblem problem_of_object() const;
    void read_identity(std::string_view object);
    void forget_object();
    error_code finish_list();
    error_code malformed(std::string why);

    const ProtobufSchema& schema_;
    Scratch& scratch_;
    DocumentSink& sink_;
    const std::size_t max_object_bytes_;
    const std::string too_large_;  ///< the error message
    TextArena arena_;
    ProtobufProjector projector_;
    PayloadBuffer payload_;

    Document document_ = Document::list;
    Step step_ = Step::magic;
    std::uint64_t offset_ = 0;   ///< in the body
    std::uint64_t integer_ = 0;  ///< the bits received so far
    unsigned integer_bits_ = 0;  ///< their number; 0: not begun
    std::uint64_t field_ = 0;    ///< its number
    std::uint64_t skipped_ = 0;  ///< bytes still to skip
    bool in_list_ = false;       ///< false: in the envelope around it
    bool has_list_ = false;
    bool has_items_ = false;
    std::uint64_t list_end_ = 0;
    ListHead head_;
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
