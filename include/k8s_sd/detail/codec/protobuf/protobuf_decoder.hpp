#pragma once

#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A run of bytes of a known length, received in pieces. A run in one piece is not copied. The
/// buffer grows with the received bytes, whatever length was announced, and wipes them afterwards.
class PayloadBuffer {
 public:
    /// \param max_stored  only so many bytes of a longer run are stored
    void expect(std::uint64_t size, std::size_t max_stored) {
        clear();
        size_ = left_ = size;
        max_stored_ = max_stored;
        cut_ = size > max_stored;
    }
    /// Takes bytes of the run from the front of `bytes`. \returns whether the run is complete
    bool take(std::string_view& bytes) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        const std::string_view part = bytes.substr(0, size);
        bytes.remove_prefix(size);
        left_ -= size;
        if (used_ == 0 && left_ == 0) {
            view_ = part.substr(0, max_stored_);
        } else {
            append(part.substr(0, max_stored_ - used_));
            view_ = {room_.data(), used_};
        }
        return left_ == 0;
    }
    /// No byte of the run has arrived.
    bool untouched() const noexcept { return left_ == size_; }
    /// The complete run; valid as long as the bytes it was taken from, at most until the next call.
    std::string_view view() const noexcept { return view_; }
    /// Only the start was stored.
    bool cut() const noexcept { return cut_; }
    void clear() noexcept {
        view_ = {};
        if (room_.size() > largest_kept) return release();
        cleanse(room_.data(), used_);
        used_ = 0;
    }
    /// Frees the memory.
    void release() noexcept {
        view_ = {};
        CleansedBytes().swap(room_);
        used_ = 0;
    }

 private:
    static constexpr std::size_t largest_kept = 64 * 1024;

    void append(std::string_view part) {
        if (part.size() > room_.size() - used_) grow(used_ + part.size());
        part.copy(room_.data() + used_, part.size());
        used_ += part.size();
    }
    void grow(std::size_t need) {
        CleansedBytes room(std::max(need, std::min(2 * room_.size(), max_stored_)));
        std::copy_n(room_.data(), used_, room.data());
        room_.swap(room);
    }

    std::uint64_t size_ = 0;
    std::uint64_t left_ = 0;
    std::size_t max_stored_ = 0;
    bool cut_ = false;
    CleansedBytes room_;    // used in part
    std::size_t used_ = 0;  // bytes received so far
    std::string_view view_;
};

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
    bool is_idle() const noexcept override { return step_ == Step::frame && payload_.untouched(); }
    const ListHead& list() const noexcept override { return head_; }
    bool has_managed_fields() const noexcept override { return projector_.has_presence(); }
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
    error_code expect(std::uint64_t size, std::size_t max_size);

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
